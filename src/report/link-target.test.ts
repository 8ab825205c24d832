import {expect, test} from 'vitest';
import {linkTarget} from './link-target.ts';

test.each(['https://example.com/a?b=c#d', 'HTTP://Example.com'])('policy: %s may be followed', url => {
  expect(linkTarget(url)).toBe(new URL(url).href);
});

test.each([
  'javascript:alert(1)',
  ' https://example.com',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  '//example.com',
  '/relative',
  'https://user:secret@example.com',
  'https://example.com/?…',
  'https://',
  `https://example.com/${'a'.repeat(2000)}`,
])('policy: %s is a text', url => {
  expect(linkTarget(url)).toBeUndefined();
});
