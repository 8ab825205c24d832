import {resolve, sep} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {canonicalizeUrl} from '../../index.ts';
import {pageFileName, urlDigest} from './page-file-name.ts';

const nameOf = (url: string): string => pageFileName(canonicalizeUrl(url), 'md');

describe('the name of a page file', () => {
  test.each([
    ['https://example.com/', 'example.com/'],
    ['https://example.com/Docs/Getting_Started.html?a=b', 'example.com/docs-getting-started-'],
    ['http://example.com:8080/x', 'example.com_8080/x-'],
    ['http://[2001:db8::1]/x', '_2001_db8_1_/x-'],
    ['https://example.com/%2e%2e%2f%2e%2e%2fetc%2fpasswd', 'example.com/etc-passwd-'],
    ['https://example.com/a%00b%0Ac', 'example.com/a-b-c-'],
    ['https://example.com/%E0%A4%A', 'example.com/e0-a4-a-'],
    ['https://example.com/%F0%9F%98%80', 'example.com/'],
    ['https://con/x', '_con/x-'],
    ['https://aux.example./x', '_aux.example/x-'],
    [`https://example.com/${'long-'.repeat(100)}`, `example.com/${'long-'.repeat(12)}`],
  ])('policy: %j is kept as %j and its digest', (url, start) => {
    expect(nameOf(url)).toBe(`${start}${urlDigest(canonicalizeUrl(url))}.md`);
  });

  test('policy: addresses that differ have names that differ, without regard to case', () => {
    const names = ['/a', '/A', '/a?b', '/a?B', '/a/', '/%61b', '/ab'].map(path =>
      nameOf(`https://e.com${path}`),
    );
    // %61 is an a.
    expect(new Set(names.map(name => name.toLowerCase())).size).toBe(6);
  });

  test('policy: no address leads out of the directory, to a hidden file or to a device', () => {
    const part = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      '%2f',
      '%5c',
      'con',
      'nul.txt',
      'a',
      '%00',
      ':',
      '~',
      '*',
      'É',
      '-',
    );
    const paths = fc.array(part, {maxLength: 12}).map(parts => parts.join(''));
    const hosts = fc.constantFrom('e.com', 'nul.e.com', 'lpt1', '[::1]', 'xn--nxasmq6b', 'com1.', '-.e.com');
    fc.assert(
      fc.property(hosts, paths, (host, path) => {
        const name = nameOf(`https://${host}/${path}`);
        expect(name).toMatch(/^[a-z0-9_-][a-z0-9._-]*\/[a-z0-9-]+\.md$/);
        expect(name).not.toMatch(/^(?:con|nul|lpt1|com1)[./]/);
        expect(resolve('/out', name).startsWith(`/out${sep}`)).toBe(true);
      }),
    );
  });
});
