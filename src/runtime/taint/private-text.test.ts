import {describe, expect, test} from 'vitest';
import {
  exactCode,
  FORMS,
  findSecrets,
  GRAM,
  GramTable,
  hashesOf,
  isLetter,
  PrivateText,
} from './private-text.ts';

const NOTE = 'the billing database of harrow moves to another house on tuesday night';

async function privateOf(...texts: readonly string[]): Promise<PrivateText> {
  const known = new PrivateText();
  for (const [at, text] of texts.entries()) await known.add(text, at + 1);
  return known;
}

describe('T1 private text in a text', () => {
  test.each(
    // biome-ignore format: a case is a line
    [
      // Sixteen characters in a row, of which any word is one.
      ['xx the billing data yy', {words: 'the billing data', isSure: false, source: 1}],
      ['xx the billing dat yy', undefined],
      ['THE  Billing\tDATA', {words: 'the billing data', isSure: false, source: 1}],
      // What separates words may be left out or put in.
      ['thebillingdatabaseo', {words: 'thebillingdatabaseo', isSure: false, source: 1}],
      ['t-h-e-b-i-l-l-i-n-g-d-a-t-a-b-a-s-e', {words: 'thebillingdatabase', isSure: false, source: 1}],
      // Longer ones are no chance: 32 characters as they are, 40 letters.
      ['the billing database of harrow m', {words: 'the billing database of harrow m', isSure: true, source: 1}],
      ['the billing database of harrow ', {words: 'the billing database of harrow ', isSure: false, source: 1}],
      ['thebillingdatabaseofharrowmovestoanother', {words: 'thebillingdatabaseofharrowmovestoanother', isSure: true, source: 1}],
      ['thebillingdatabaseofharrowmovestoanothe', {words: 'thebillingdatabaseofharrowmovestoanothe', isSure: false, source: 1}],
      // A key changes between letters and digits.
      ['k a1b2cdefghijklmno k', {words: 'a1b2cdefghijklmno', isSure: true, source: 2}],
      ['k b2cdefghijklmnop3 k', undefined],
      ['a1-b2-c-defghijklmno', {words: 'a1b2cdefghijklmno', isSure: false, source: 2}],
      // The longest of several runs.
      ['moves to another and then the billing database o', {words: 'the billing database o', isSure: false, source: 1}],
      ['the billing database o and then moves to another ', {words: 'the billing database o', isSure: false, source: 1}],
      // Of runs that are as long, the first.
      ['the billing data##harrow moves to #', {words: 'the billing data', isSure: false, source: 1}],
      ['nothing of it is in here at all', undefined],
      ['', undefined],
    ],
  )('%j', async (text, found) => {
    const known = await privateOf(NOTE, 'a1b2cdefghijklmno');
    expect(known.find([text])).toEqual(found);
  });

  test('of several texts the surest match, then the longest', async () => {
    const known = await privateOf(NOTE, 'a1b2c3defghijklm');
    expect(known.find(['a1b2c3defghijklm', 'the billing database of'])?.words).toBe('a1b2c3defghijklm');
    expect(known.find(['the billing database of', 'a1b2c3defghijklm'])?.words).toBe('a1b2c3defghijklm');
    expect(known.find(['the billing data', 'database of harrow'])?.words).toBe('database of harrow');
    expect(known.find([])).toBeUndefined();
  });

  test('a match is from where most of its words are', async () => {
    const known = await privateOf(
      'the billing database',
      'another text of harrow',
      'billing database of harrow moves',
    );
    expect(known.find(['the billing database of harrow moves'])).toMatchObject({source: 3});
  });

  test('words that are shown are 512 at most', async () => {
    const long = Array.from({length: 300}, (_, at) => `w${at}`).join(' ');
    const known = await privateOf(long);
    expect(known.find([long])?.words).toBe(long.slice(0, 512));
  });

  test('a text that is taken in in turns is known across the cut', async () => {
    const at = 131_072;
    const filler = Array.from({length: 20_000}, (_, index) => (index * 7919).toString(36))
      .join('~')
      .slice(0, at - 10);
    const known = await privateOf(`${filler}purple elephants dance on the quiet roof`);
    expect(known.find(['purple elephants dance on the quiet roof'])).toMatchObject({
      words: 'purple elephants dance on the quiet roof',
    });
  });
});

test.each([
  [12, 0],
  [131_072, 0],
  [131_073, 1],
  [400_000, 3],
])('T1 while %d characters are taken in, others have %d turns', async (length, expected) => {
  let turns = 0;
  let isDone = false;
  const count = () => {
    if (isDone) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await new PrivateText().add('abc '.repeat(length / 4 + 1).slice(0, length), 1);
  isDone = true;
  expect(turns).toBe(expected);
});

describe('T1 secrets are known by themselves', () => {
  test.each([
    ['abcdefgh', 'x=ABCDEFGH', {words: 'abcdefgh', isSure: true, source: 5}],
    ['abcdefg', 'x=abcdefg', undefined],
    ['é'.repeat(512), 'é'.repeat(512), expect.objectContaining({isSure: true, source: 5})],
  ])('%j in %j', async (secret, text, found) => {
    const known = new PrivateText();
    await known.add('', 5, [secret]);
    expect(known.find([text])).toEqual(found);
  });

  test('not one of more than 512 characters, and of many 256', async () => {
    const known = new PrivateText();
    await known.add('', 1, ['x'.repeat(513), ...Array.from({length: 257}, (_, at) => `secret-${at + 1000}`)]);
    expect(known.find(['x'.repeat(513)])).toBeUndefined();
    expect(known.find(['secret-1255'])?.words).toBe('secret-1255');
    expect(known.find(['secret-1256'])).toBeUndefined();
  });

  test('a source is a number up to 65,535', async () => {
    const known = new PrivateText();
    await known.add(NOTE, 1_000_000, ['s3cret-s3cret']);
    expect(known.find([NOTE])?.source).toBe(65_535);
    expect(known.find(['s3cret-s3cret'])?.source).toBe(65_535);
  });
});

/** Numbers that are as good as random, and always the same. */
function numbers(count: number, seed: number): readonly number[] {
  let state = seed;
  return Array.from({length: count}, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state ^ (state >>> 15);
  });
}

function codesOf(text: string): Uint16Array {
  return Uint16Array.from(text, character => character.charCodeAt(0));
}

describe('T1 the hashes of grams', () => {
  test('there is one for each eight characters in a row, and it is that of these alone', () => {
    const text = 'the launch code of the north gate';
    for (const form of FORMS) {
      const hashes = hashesOf(codesOf(text), form);
      expect(hashes).toHaveLength(text.length - GRAM + 1);
      expect(new Set(hashes).size).toBe(hashes.length);
      for (const [at, hash] of hashes.entries())
        expect(hashesOf(codesOf(text.slice(at, at + GRAM)), form)).toEqual(Int32Array.of(hash));
    }
  });

  test.each([0, 1, 7])('%d characters have none', length => {
    expect(hashesOf(codesOf('x'.repeat(length)), 'exact')).toHaveLength(0);
  });

  test('the two forms of one text have no hash in common', () => {
    const codes = codesOf('thelaunchcodeofthenorthgate');
    const exact = new Set(hashesOf(codes, 'exact'));
    expect([...hashesOf(codes, 'letters')].filter(hash => exact.has(hash))).toEqual([]);
  });

  test('exact is lower case with any white space as a space', () => {
    const written = 'AZ[@az\t\n \u00a0!\u00a1É';
    const codes = [...written].map(character => exactCode(character.charCodeAt(0)));
    expect(String.fromCharCode(...codes)).toBe('az[@az    !\u00a1É');
  });

  test('letters are letters, digits and everything beyond ASCII', () => {
    const kept = [...'a`z{A0/9:_ -\u00a0\u00a1é中'].filter(one => isLetter(one.charCodeAt(0)));
    expect(kept.join('')).toBe('az09\u00a1é中');
  });
});

describe('T1 the table of grams', () => {
  test('knows what it was given and, of some, from where', () => {
    const table = new GramTable();
    expect([table.has(0), table.has(7), table.sourceOf(7)]).toEqual([false, false, undefined]);
    const given = numbers(1000, 1);
    for (const [at, hash] of given.entries()) table.add(hash, at);
    expect(given.every(hash => table.has(hash))).toBe(true);
    expect(numbers(10_000, 2).filter(hash => table.has(hash))).toEqual([]);
    expect(given.map(hash => table.sourceOf(hash))).toEqual(given.map((_, at) => at));
    expect(numbers(10_000, 2).filter(hash => table.sourceOf(hash) !== undefined).length).toBeLessThan(5);
    expect(table.isFull).toBe(false);
  });

  test('a gram is from where it was last', () => {
    const table = new GramTable();
    table.add(0x12345678, 3);
    table.add(0x12345678, 65_535);
    expect(table.sourceOf(0x12345678)).toBe(65_535);
    // The same slot, and another gram in it.
    expect(table.sourceOf(0x22345678)).toBeUndefined();
    table.add(0x22345678, 4);
    expect([table.sourceOf(0x12345678), table.sourceOf(0x22345678)]).toEqual([undefined, 4]);
    expect(table.has(0x12345678)).toBe(true);
  });

  test('mistakes hardly any while it is small', () => {
    const table = new GramTable();
    const given = numbers(20_000, 1);
    for (const hash of given) table.add(hash, 0);
    const known = new Set(given);
    const mistaken = numbers(20_000, 3).filter(hash => !known.has(hash) && table.has(hash));
    expect(mistaken.length).toBeLessThan(3);
  });

  test('grows, forgets nothing, and mistakes about one in a hundred', () => {
    const table = new GramTable();
    const given = numbers(600_000, 1);
    for (const hash of given) table.add(hash, 0);
    expect(given.every(hash => table.has(hash))).toBe(true);
    const known = new Set(given);
    const others = numbers(50_000, 3).filter(hash => !known.has(hash));
    const mistaken = others.filter(hash => table.has(hash)).length;
    expect(mistaken / others.length).toBeLessThan(0.02);
    expect(table.isFull).toBe(false);
  });
});

const KEY_LINE = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB';

describe('T1 what looks like a secret', () => {
  test.each([
    // Tokens with the prefix of their issuer.
    ['ghp_abcdefghijklmnop', ['ghp_abcdefghijklmnop']],
    ['see ghs_abcdefghijklmnop.', ['ghs_abcdefghijklmnop']],
    ['github_pat_abcdefghijklmnop', ['github_pat_abcdefghijklmnop']],
    ['glpat-abcdefghijklmnop', ['glpat-abcdefghijklmnop']],
    ['sk-abcdefghijklmnop', ['sk-abcdefghijklmnop']],
    ['xoxb-12345678', ['xoxb-12345678']],
    ['AKIAIOSFODNN7EXAMPLE', ['AKIAIOSFODNN7EXAMPLE']],
    ['ASIAIOSFODNN7EXAMPLE', ['ASIAIOSFODNN7EXAMPLE']],
    ['AIzaabcdefghijklmnopqrst', ['AIzaabcdefghijklmnopqrst']],
    [`npm_${'a'.repeat(30)}`, [`npm_${'a'.repeat(30)}`]],
    [`pypi-${'a'.repeat(30)}`, [`pypi-${'a'.repeat(30)}`]],
    ['eyJhbGciOiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl', ['eyJhbGciOiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl']],
    ['ghp_abc', []],
    ['xghp_abcdefghijklmnop', []],
    ['a-sk-abcdefghijklmnop', []],
    // Assignments to a name that says so.
    ['PASSWORD=hunter2hunter3', ['hunter2hunter3']],
    ['passwd: "abc123def456"', ['abc123def456']],
    ["api-key  =  'a1b2c3d4e5'", ['a1b2c3d4e5']],
    ['STRIPE_SECRET_ID=a1b2c3d4e5,x', ['a1b2c3d4e5']],
    ['{"access_key":"a1b2c3d4e5"}', ['a1b2c3d4e5']],
    ['my_credential.value: a1b2c3d4e5;', ['a1b2c3d4e5']],
    ['token=a1b2c3d', []],
    // No random text: a word, digits alone, or hardly any different characters.
    ['password=correcthorsebattery', []],
    ['password=193748562093', []],
    ['password=aaaaaaa1aaaaaaa1', []],
    ['max_tokens is 12345678a', []],
    // Each once.
    ['token=a1b2c3d4e5 token=a1b2c3d4e5 token=z9y8x7w6v5', ['a1b2c3d4e5', 'z9y8x7w6v5']],
    ['nothing to see', []],
    ['', []],
  ])('%j', (text, found) => {
    expect(findSecrets(text)).toEqual(found);
  });

  test.each([
    ['RSA', `-----BEGIN RSA PRIVATE KEY-----\n${KEY_LINE}\nabc=\n-----END RSA PRIVATE KEY-----`, KEY_LINE],
    ['plain', `a\n-----BEGIN PRIVATE KEY-----\n${KEY_LINE}  \n-----END PRIVATE KEY-----\nb`, KEY_LINE],
    ['cut off', `-----BEGIN PRIVATE KEY-----\nshort\n${KEY_LINE}`, KEY_LINE],
    ['without its content', '-----BEGIN EC PRIVATE KEY-----\n…', '-----BEGIN PRIVATE KEY-----'],
    [
      'with a header in it',
      `-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED ${KEY_LINE}\n-----END`,
      '-----BEGIN PRIVATE KEY-----',
    ],
  ])('a private key, %s', (_, text, secret) => {
    expect(findSecrets(text)).toEqual([secret]);
  });

  test('of many, 64 are kept', () => {
    const lines = Array.from({length: 80}, (_, at) => `token=abc${at + 100}xyz7\n`).join('');
    const found = findSecrets(lines);
    expect(found).toHaveLength(64);
    expect([found[0], found[63]]).toEqual(['abc100xyz7', 'abc163xyz7']);
  });

  test('a text is looked through to its 4,194,304th character', () => {
    const secret = 'ghp_abcdefghijklmnop';
    const endingAt = (length: number) => ' '.repeat(length - secret.length) + secret;
    expect(findSecrets(`${endingAt(4_194_304)} `)).toEqual([secret]);
    expect(findSecrets(endingAt(4_194_304 + secret.length))).toEqual([]);
  });
});
