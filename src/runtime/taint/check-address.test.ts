import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {checkAddress, KnownAddresses, LONGEST_ADDRESS, textsInAddress} from './check-address.ts';
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
    // The last link can be read in three ways.
    const bits = Math.log2(6);
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

const textsOf = (address: string): readonly string[] => textsInAddress(new URL(address)).texts;

describe('T1 what an address may say', () => {
  test.each([
    ['all of it behind the host', '/alpha/beta1?k=gamma&l=delta#omega'],
    ['its path without slashes', 'alphabeta1'],
    ['its values', 'gammadelta'],
    ['its labels', 'firstsecond'],
    ['all of these', 'firstsecondalphabeta1gammadelta'],
    ['the same backwards', 'atledammag'],
  ])('%s', (_, text) => {
    expect(textsOf('https://first.second.collect.example/alpha/beta1?k=gamma&l=delta#omega')).toContain(text);
  });

  test.each([
    ['https://x.example/?first=1&second=2&third=3', 'firstsecondthird'],
    ['https://username:password@x.example/', 'usernamepassword'],
    ['https://x.example/?q=alpha+beta', '/?q=alpha beta'],
    ['https://x.example/?k=alpha=beta=', 'alpha=beta='],
    ['https://x.example/%61lpha%62eta', '/alphabeta'],
    ['https://x.example/?k=%61lpha&l=%62eta', 'alphabeta'],
    ['https://alpha.beta1.x.example./', 'alphabeta1'],
    ['https://alpha.beta1.x.zone7/', 'alphabeta1'],
  ])('%s says %j', (address, text) => {
    expect(textsOf(address)).toContain(text);
  });

  test('the registered domain, two names of parameters and a number for a host say nothing', () => {
    expect(textsOf('https://collect-something.example/')).toEqual([]);
    expect(textsOf('https://collect-something.example./')).toEqual([]);
    expect(textsOf('https://x.example/?firstname=1&lastname=2')).not.toContain('firstnamelastname');
    expect(textsOf('http://203.0.113.77/')).toEqual([]);
  });

  test('a longer one is not looked through', () => {
    const address = (length: number) => new URL(`https://x.example/${'a'.repeat(length - 18)}`);
    expect(textsInAddress(address(LONGEST_ADDRESS + 1))).toEqual({texts: [], isCut: true});
    expect(textsInAddress(address(LONGEST_ADDRESS)).texts).not.toEqual([]);
  });
});

describe('T1 what is encoded in an address', () => {
  const base32 = (bytes: Buffer): string => {
    const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('');
    const letters = (bits.match(/.{1,5}/g) ?? []).map(
      group => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(group.padEnd(5, '0'), 2)],
    );
    return letters.join('');
  };
  const encodings: readonly (readonly [string, (bytes: Buffer) => string])[] = [
    ['hexadecimal digits', bytes => bytes.toString('hex')],
    ['base64', bytes => bytes.toString('base64url')],
    ['base32', base32],
  ];
  /** Of which no run is text, so that what is found is what stands between them. */
  const noText = (length: number) => Buffer.alloc(length, 0xff);

  test.each(encodings)('%s of sixteen characters are read wherever they begin', (_, encode) => {
    for (const before of ['', 'z', 'zz', 'zzz'])
      expect(textsOf(`https://x.example/${before}${encode(Buffer.from('sixteen of these'))}`)).toContain(
        'sixteen of these',
      );
  });

  test.each(encodings)(
    '%s that are no UTF-8 say what is readable of them, from twelve characters on',
    (_, encode) => {
      const said = (text: string) =>
        textsOf(`https://x.example/${encode(Buffer.concat([noText(8), Buffer.from(text), noText(8)]))}`);
      expect(said('twelve chars')).toContain('twelve chars');
      expect(said('eleven char')).not.toContain('eleven char');
      expect(said('tabs\tand\r\nlines~')).toContain('tabs\tand\r\nlines~');
    },
  );

  test('two layers are taken off, and no third', () => {
    const wrapped = (text: string) => Buffer.from(text).toString('base64url');
    const [one, two] = [wrapped('sixteen of these'), wrapped(wrapped('sixteen of these'))];
    expect(textsOf(`https://x.example/${two}`)).toContain('sixteen of these');
    expect(textsOf(`https://x.example/${wrapped(two)}`)).toContain(one);
    expect(textsOf(`https://x.example/${wrapped(two)}`)).not.toContain('sixteen of these');
  });
});

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
    // A choice is among those that are remembered.
    expect(known.bitsOf(new URL('https://a.example/19999'))).toBe(Math.log2(20_001));
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

  test('red team F2: one of the n links of all texts says log2(n + 1) bits, however few there are in each', () => {
    expect(knownOf('https://a.example/a').bitsOf(A)).toBe(1);
    expect(knownOf('https://a.example/a https://a.example/b https://a.example/c').bitsOf(A)).toBe(2);
    const pages = Array.from({length: 96}, (_, at) => `[go on](https://a.example/${at})`);
    expect(knownOf('https://a.example/a', ...pages, ...pages).bitsOf(A)).toBe(Math.log2(98));
  });

  test('one that was asked for before says which of those, where there are fewer of them', () => {
    const known = new KnownAddresses();
    for (const name of ['a', 'b', 'c']) known.addRequested(new URL(`https://a.example/${name}`));
    expect(known.bitsOf(A)).toBe(2);
    known.addLinks('https://a.example/a');
    expect(known.bitsOf(A)).toBe(1);
    known.addLinks(Array.from({length: 31}, (_, at) => `https://a.example/${at}`).join(' '));
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
    expect(known.newPart(new URL(url))).toBe(novel);
  });

  test('131,072 beginnings are remembered', {tags: 'slow'}, () => {
    const known = new KnownAddresses();
    // Thirteen each: its host and twelve directories.
    for (let at = 0; at < 10_082; at += 1)
      known.addRequested(new URL(`https://${at}.example/1/2/3/4/5/6/7/8/9/10/11/12/x`));
    const late = Array.from({length: 7}, (_, at) => new URL(`https://late-${at}.example/x`));
    for (const url of late) known.addRequested(url);
    expect(late.map(url => known.newPart(url))).toEqual([...Array(6).fill('x'), 'late-6.example/x']);
  });

  test('twelve directories are remembered', () => {
    const deep = 'https://a.example/1/2/3/4/5/6/7/8/9/10/11/12/13/x';
    expect(knownOf(deep).newPart(new URL(`${deep}y`))).toBe('13/xy');
  });
});
