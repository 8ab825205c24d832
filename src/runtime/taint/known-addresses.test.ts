import {describe, expect, test} from 'vitest';
import {KnownAddresses} from './known-addresses.ts';

function knownOf(...texts: readonly string[]): KnownAddresses {
  const known = new KnownAddresses();
  for (const text of texts) known.addLinks(text);
  return known;
}

describe('T1 links of a delivered text', () => {
  test.each([
    ['see https://a.example/x and http://b.example', ['https://a.example/x', 'http://b.example/']],
    ['HTTPS://A.example/X', ['https://a.example/X']],
    ['[one](https://a.example/x)', ['https://a.example/x']],
    ['https://a.example/x_(y)', ['https://a.example/x_(y)']],
    ['<https://a.example/x>', ['https://a.example/x']],
    ['"https://a.example/x"', ['https://a.example/x']],
    ['https://a.example/x.', ['https://a.example/x', 'https://a.example/x.']],
    ['**https://a.example/x**', ['https://a.example/x']],
    ['(https://a.example/x).', ['https://a.example/x']],
    ['[one](https://a.example/(x)/y).', ['https://a.example/(x)/y']],
    ['https://a.example/?a=1\\&b=2', ['https://a.example/?a=1&b=2']],
    ['https://a.example/x#', ['https://a.example/x']],
    ['https://a.example/x#y', ['https://a.example/x#y']],
  ])('%j gives %j', (text, given) => {
    const known = knownOf(text);
    for (const url of given) expect([url, known.bitsOf(new URL(url))]).toEqual([url, expect.any(Number)]);
    expect(known.bitsOf(new URL('https://a.example/other'))).toBeUndefined();
  });

  test.each([
    ['ftp://a.example/x', 0],
    ['https://', 0],
    ['https://a.example/x https://a.example/x', 1],
    ['https://a.example/x https://a.example/y https://[', 3],
    [`https://a.example/${'x'.repeat(4096 - 18)}`, 1],
    [`https://a.example/${'x'.repeat(4096 - 17)}`, 0],
  ])('%j has %d of them', (text, count) => {
    expect(new KnownAddresses().addLinks(text)).toBe(count);
  });

  test('what is no address in the end is not one', () => {
    expect(() => knownOf('https://[::1 https://a.example:99999/ https://%zz/')).not.toThrow();
  });

  test('beyond 20,000 in a text each counts, and no more are remembered', {tags: 'slow'}, () => {
    const links = Array.from({length: 20_001}, (_, at) => `https://a.example/${at}`);
    const known = new KnownAddresses();
    expect(known.addLinks([...links, 'https://a.example/0'].join(' '))).toBe(20_002);
    expect(known.bitsOf(new URL('https://a.example/19999'))).toBe(Math.log2(20_003));
    expect(known.bitsOf(new URL('https://a.example/20000'))).toBeUndefined();
    expect(new KnownAddresses().addLinks(links.slice(0, 19_999).join(' '))).toBe(19_999);
  });
});

test('T1 an empty fragment is none, and one that ends in # is another', () => {
  const known = knownOf('https://a.example/x#y https://a.example/z#');
  expect(known.bitsOf(new URL('https://a.example/x#y#'))).toBeUndefined();
  expect(known.bitsOf(new URL('https://a.example/z'))).toBe(Math.log2(3));
});

describe('T1 what the choice of an address says', () => {
  const A = new URL('https://a.example/a');

  test('one of n links says log2(n + 1) bits, of several pages the most', () => {
    expect(knownOf('https://a.example/a').bitsOf(A)).toBe(1);
    expect(knownOf('https://a.example/a https://a.example/b https://a.example/c').bitsOf(A)).toBe(2);
    expect(knownOf('https://a.example/a', 'https://a.example/a https://b.example/').bitsOf(A)).toBe(
      Math.log2(3),
    );
    expect(knownOf('https://a.example/a https://b.example/', 'https://a.example/a').bitsOf(A)).toBe(
      Math.log2(3),
    );
  });

  test('one that was asked for before says which of those, or less where a page gave it', () => {
    const known = new KnownAddresses();
    for (const name of ['a', 'b', 'c']) known.addRequested(new URL(`https://a.example/${name}`));
    expect(known.bitsOf(A)).toBe(2);
    known.addLinks('https://a.example/a');
    expect(known.bitsOf(A)).toBe(1);
    known.addLinks(
      Array.from({length: 31}, (_, at) => `https://a.example/${at}`)
        .join(' ')
        .concat(' https://a.example/a'),
    );
    expect(known.bitsOf(A)).toBe(2);
  });
});

describe('T1 the end that no known address begins with', () => {
  test.each([
    ['https://other.example/p/q', 'other.example/p/q'],
    ['http://other.example/p', 'other.example/p'],
    ['https://a.example/', ''],
    ['https://a.example/new', 'new'],
    ['https://a.example/one/new?q', 'new?q'],
    ['https://a.example/one/two/new', 'new'],
    ['https://a.example/one/three/new', 'three/new'],
    ['https://b.example/x/y', 'y'],
    // The end of a known address is no beginning.
    ['https://a.example/one/two/page/new', 'page/new'],
    ['http://a.example/one/new', 'a.example/one/new'],
  ])('of %s it is %j', (url, novel) => {
    const known = knownOf('https://a.example/one/two/page');
    known.addRequested(new URL('https://b.example/x/'));
    expect(known.novelPart(new URL(url))).toBe(novel);
  });

  test('131,072 beginnings are remembered', {tags: 'slow'}, () => {
    const known = new KnownAddresses();
    // Thirteen each: its host and twelve directories.
    for (let at = 0; at < 10_082; at += 1)
      known.addRequested(new URL(`https://${at}.example/1/2/3/4/5/6/7/8/9/10/11/12/x`));
    const late = Array.from({length: 7}, (_, at) => new URL(`https://late-${at}.example/x`));
    for (const url of late) known.addRequested(url);
    expect(late.map(url => known.novelPart(url))).toEqual([...Array(6).fill('x'), 'late-6.example/x']);
  });

  test('twelve directories are remembered', () => {
    const deep = 'https://a.example/1/2/3/4/5/6/7/8/9/10/11/12/13/x';
    expect(knownOf(deep).novelPart(new URL(`${deep}y`))).toBe('13/xy');
  });
});
