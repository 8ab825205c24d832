import fc from 'fast-check';
import {expect, test} from 'vitest';
import {LinkTargets} from './link-targets.ts';

/** Not `URL.canParse`: optimised code of Node 20 has it wrong for letters such as é. */
function hrefOf(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base).href;
  } catch {
    return undefined;
  }
}

/** D10 said by the URL parser alone. */
function expected(reference: string, base: string): string | undefined {
  const href = hrefOf(reference, base);
  if (href === undefined) return undefined;
  return href
    .replace(/[ ()\\`<>]/g, unit => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)/g, '\\&');
}

const PART = fc.constantFrom(
  ...[
    'http://',
    'https://',
    'HTTP://',
    '//',
    '/',
    '/',
    '.',
    '..',
    '/./',
    '%2e',
    '?',
    '#',
    '&',
    '&amp;',
    ':',
    ':80',
    '@',
  ],
  ...[
    'example.com',
    'EXAMPLE.com',
    'a.b',
    '1.2',
    '0x7f.1',
    'xn--a',
    '-',
    '_',
    'a',
    'B',
    '9',
    '(',
    ')',
    ' ',
    '\t',
    '\\',
    '%41',
  ],
  ...['é', '"', "'", '<', '|', '^', '{', '~', '$', '!', '*', '+', ',', ';', '=', '[', ']', 'mailto:'],
);
const BASES = [
  'https://example.org/a/b?c#d',
  'http://u:p@example.org/(x)/',
  'https://example.org:8443/',
  'ftp://h/x',
  'file:///a/b',
];

test('D10 links are serialised as the URL parser serialises them, parsed or not', () => {
  const reference = fc.array(PART, {minLength: 1, maxLength: 8}).map(parts => parts.join(''));
  fc.assert(
    fc.property(reference, fc.constantFrom(...BASES), (text, base) => {
      expect(new LinkTargets(base, 1000).resolve(text), `${text} on ${base}`).toBe(expected(text, base));
    }),
    {numRuns: 5000},
  );
});
