import {describe, expect, test} from 'vitest';
import {PrivateText} from './private-text.ts';

const NOTE = 'the billing database of harrow moves to another house on tuesday night';

async function privateOf(...texts: readonly string[]): Promise<PrivateText> {
  const known = new PrivateText();
  for (const [at, text] of texts.entries()) await known.add(text, at + 1);
  return known;
}

describe('T1 private text in a text', () => {
  test.each([
    // Sixteen characters in a row, of which any word is one.
    ['xx the billing data yy', {words: 'the billing data', isSure: false, source: 1}],
    ['xx the billing dat yy', undefined],
    ['THE  Billing\tDATA', {words: 'the billing data', isSure: false, source: 1}],
    // What separates words may be left out or put in.
    ['thebillingdatabaseo', {words: 'thebillingdatabaseo', isSure: false, source: 1}],
    ['t-h-e-b-i-l-l-i-n-g-d-a-t-a-b-a-s-e', {words: 'thebillingdatabase', isSure: false, source: 1}],
    // Longer ones are no chance: 32 characters as they are, 40 letters.
    [
      'the billing database of harrow m',
      {words: 'the billing database of harrow m', isSure: true, source: 1},
    ],
    ['the billing database of harrow ', {words: 'the billing database of harrow ', isSure: false, source: 1}],
    [
      'thebillingdatabaseofharrowmovestoanother',
      {words: 'thebillingdatabaseofharrowmovestoanother', isSure: true, source: 1},
    ],
    [
      'thebillingdatabaseofharrowmovestoanothe',
      {words: 'thebillingdatabaseofharrowmovestoanothe', isSure: false, source: 1},
    ],
    // A key changes between letters and digits.
    ['k a1b2cdefghijklmno k', {words: 'a1b2cdefghijklmno', isSure: true, source: 2}],
    ['k b2cdefghijklmnop3 k', undefined],
    ['a1-b2-c-defghijklmno', {words: 'a1b2cdefghijklmno', isSure: false, source: 2}],
    // The longest of several runs.
    [
      'moves to another and then the billing database o',
      {words: 'the billing database o', isSure: false, source: 1},
    ],
    [
      'the billing database o and then moves to another ',
      {words: 'the billing database o', isSure: false, source: 1},
    ],
    // Of runs that are as long, the first.
    ['the billing data##harrow moves to #', {words: 'the billing data', isSure: false, source: 1}],
    ['nothing of it is in here at all', undefined],
    ['', undefined],
  ])('%j', async (text, found) => {
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
