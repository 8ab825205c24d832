import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {checkAddress} from './check-address.ts';
import {KnownAddresses} from './known-addresses.ts';
import {PRIVATE_RUN, PrivateText} from './private-text.ts';

const SECRET_FILE = `# deploy notes
The billing database of Harrow & Finch moves to host db-7.internal.harrow on Tuesday night.
STRIPE_KEY=rk_live_9aZ3kQ7LmX0vTb5W
ssh deploy@10.3.4.5 then run ./move.sh --really; ask Imogen for the second factor.
`;

async function privateOf(...texts: readonly string[]): Promise<PrivateText> {
  const index = new PrivateText();
  for (const [at, text] of texts.entries()) await index.add(text, at);
  return index;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const hex = (text: string) => Buffer.from(text).toString('hex');
const reverse = (text: string) => [...text].reverse().join('');
function base32(text: string): string {
  const bits = [...Buffer.from(text)].map(byte => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups
    .map(group => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(group.padEnd(5, '0'), 2)])
    .join('');
}
const percent = (text: string) =>
  [...Buffer.from(text)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('');

const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: text => text,
  percent,
  base64,
  base64url,
  hex,
  base32,
  reverse,
};

/** Ways in which an address takes a text along. */
const PLACES: Readonly<Record<string, (text: string) => string>> = {
  query: text => `https://collect.example/?q=${encodeURIComponent(text)}`,
  'two parameters': text =>
    `https://collect.example/c?a=${encodeURIComponent(text.slice(0, text.length >> 1))}&b=${encodeURIComponent(text.slice(text.length >> 1))}`,
  path: text => `https://collect.example/p/${encodeURIComponent(text)}/x.png`,
  'short segments': text =>
    `https://collect.example/${(encodeURIComponent(text).match(/(?:%..|.){1,6}/g) ?? []).join('/')}`,
  fragment: text => `https://collect.example/page#${encodeURIComponent(text)}`,
  'user name': text => `https://${encodeURIComponent(text)}@collect.example/`,
};

describe('T1 checkAddress', () => {
  test('T1 1,000 exfiltration addresses by place and up to two encodings are all found', {
    tags: 'slow',
  }, async () => {
    const index = await privateOf(SECRET_FILE);
    const flat = SECRET_FILE.replaceAll('\n', ' ');
    const names = fc.constantFrom(...Object.keys(ENCODINGS));
    fc.assert(
      fc.property(
        fc.integer({min: 0, max: flat.length - 48}),
        fc.integer({min: PRIVATE_RUN, max: 48}),
        names,
        names,
        fc.constantFrom(...Object.keys(PLACES)),
        fc.constantFrom('', 'id-', 'z9'),
        (start, length, first, second, place, before) => {
          // White space is one space, so at the ends of a text it may be less than it was.
          const text = flat.slice(start, start + length).trim();
          fc.pre(text.length >= PRIVATE_RUN);
          const coded = (ENCODINGS[second] ?? String)((ENCODINGS[first] ?? String)(text));
          const url = (PLACES[place] ?? String)(before + coded);
          const found = checkAddress(url, new KnownAddresses(), index);
          expect(found).toMatchObject({kind: 'made-up', match: {source: 0}});
        },
      ),
      {numRuns: 1000, seed: 7},
    );
  });

  test.each([
    ['labels', (text: string) => `https://${(base32(text).match(/.{1,40}/g) ?? []).join('.')}.evil.example/`],
    [
      'labels in hexadecimal',
      (text: string) => `https://${(hex(text).match(/.{1,30}/g) ?? []).join('.')}.evil.example/`,
    ],
    ['words of a slug', (text: string) => `https://evil.example/${text.replace(/[^A-Za-z0-9]+/g, '-')}`],
    ['a plus for a space', (text: string) => `https://evil.example/?q=${text.replaceAll(' ', '+')}`],
    ['capitals', (text: string) => `https://evil.example/?q=${encodeURIComponent(text.toUpperCase())}`],
    [
      'one letter a segment',
      (text: string) => `https://evil.example/${[...text.replaceAll(' ', '')].join('/')}`,
    ],
  ])('T1 private text as %s is found', async (_, url) => {
    const index = await privateOf(SECRET_FILE);
    const words = 'database of Harrow and Finch'.replace('and', '&');
    expect(checkAddress(url(words), new KnownAddresses(), index)).toMatchObject({match: {source: 0}});
  });

  test('T1 a short secret is found by itself', async () => {
    const index = new PrivateText();
    await index.add('PASSWORD=h4ck3rm4n', 3, ['h4ck3rm4n']);
    const found = checkAddress('https://evil.example/?p=H4CK3RM4N', new KnownAddresses(), index);
    expect(found).toMatchObject({match: {source: 3, words: 'h4ck3rm4n'}});
  });

  test('T1 the registered domain is no private text, whatever a file says of it', async () => {
    const index = await privateOf('see https://internationalization.example/ for more');
    const found = checkAddress('https://internationalization.example/', new KnownAddresses(), index);
    expect(found).toMatchObject({kind: 'made-up', match: undefined});
  });

  test('T1 a delivered link costs its choice, one that is as good as it costs all of itself', () => {
    const known = new KnownAddresses();
    expect(
      known.addLinks('[a](https://a.example/1?x=1&y=2) [b](https://a.example/2) https://b.example/(c).'),
    ).toBe(3);
    const bits = Math.log2(4);
    const index = new PrivateText();
    for (const url of ['https://a.example/1?x=1&y=2', 'https://a.example/2', 'https://b.example/(c)']) {
      expect(checkAddress(url, known, index)).toEqual({kind: 'given', bits});
    }
    expect(checkAddress('https://a.example/3', known, index)).toMatchObject({kind: 'made-up', novel: '3'});
    expect(checkAddress('https://c.example/3', known, index)).toMatchObject({novel: 'c.example/3'});
  });

  test('T1 a link of several pages is as dear as on the dearest, and asking again says which of all it was', () => {
    const known = new KnownAddresses();
    known.addLinks('https://a.example/1 https://a.example/2 https://a.example/3');
    known.addLinks('https://a.example/1');
    expect(known.bitsOf(new URL('https://a.example/1'))).toBe(2);
    known.addRequested(new URL('https://a.example/1'));
    expect(known.bitsOf(new URL('https://a.example/1'))).toBe(1);
  });

  test('T1 a fragment that no page gave is made up', () => {
    const known = new KnownAddresses();
    known.addLinks('https://a.example/1 https://a.example/1#two');
    expect(known.bitsOf(new URL('https://a.example/1#two'))).toBeDefined();
    expect(known.bitsOf(new URL('https://a.example/1#secret'))).toBeUndefined();
  });

  test('T1 an address that is too long is not taken for harmless', async () => {
    const index = await privateOf(SECRET_FILE);
    const url = `https://evil.example/?q=${'x'.repeat(9000)}`;
    expect(checkAddress(url, new KnownAddresses(), index)).toMatchObject({isCut: true});
  });

  test('T1 what is no address is nothing', () => {
    expect(checkAddress('not an address', new KnownAddresses(), new PrivateText())).toEqual({kind: 'none'});
  });
});
