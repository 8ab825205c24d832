import {describe, expect, test} from 'vitest';
import type {Json} from '../../core/json.ts';
import type {TaintOptions} from './options.ts';
import type {PastTaint} from './past-taint.ts';
import {RunTaint, type Sink} from './run-taint.ts';

const NONE: PastTaint = {untrusted: [], private: [], hasSecret: false, bits: 0};
const PAGE = 'https://site.example/';
const FROM_PAGE = `Untrusted text came from ${PAGE}.`;
const NOTE = 'the launch code of the north gate is 7741-AKRON';

type Emitted = readonly [event: string, payload: {readonly [field: string]: Json}];

function taintOf(options: Partial<TaintOptions> = {}, past: Partial<PastTaint> = {}) {
  const emitted: Emitted[] = [];
  const taint = new RunTaint(
    {mode: 'enforce', assume: 'none', choice_bits: 64, ...options},
    {...NONE, ...past},
    (event, payload) => emitted.push([event, payload]),
  );
  const page = (text = 'See https://site.example/a and https://site.example/b.', origin = PAGE) =>
    taint.deliver({kind: 'untrusted', origin, text, hasLinks: true}, {step: 1});
  const file = (text = NOTE, origin = 'read a.txt') =>
    taint.deliver({kind: 'private', origin, text, hasLinks: true}, {step: 2});
  const url = (...values: readonly string[]) => taint.decide({kind: 'url', values});
  return {taint, emitted, page, file, url};
}

const asks = (about: string, why: string, from = FROM_PAGE) => ({
  decision: 'ask',
  about,
  reason: `${why} ${from}`,
  bits: 0,
});

describe('T1 what taint says of an address', () => {
  test('nothing while no untrusted text was delivered, and of what is no address', async () => {
    const {url, page, file} = taintOf();
    await file();
    expect(url('https://evil.example/')).toBeUndefined();
    await page();
    expect(url('no address')).toBeUndefined();
    expect(url()).toBeUndefined();
  });

  test('a link that was delivered passes, and costs its bits once private text is there', async () => {
    const {url, page, file} = taintOf();
    await page();
    const passes = {decision: 'pass', about: 'given', reason: 'The address was delivered before.', bits: 0};
    expect(url('https://site.example/a')).toEqual(passes);
    await file();
    expect(url(' https://site.example/a ')).toEqual({...passes, bits: Math.log2(3)});
  });

  test('a choice that says more than is left is asked about', async () => {
    const {taint, url, page, file} = taintOf({choice_bits: 3});
    await page();
    await file();
    const first = url('https://site.example/a');
    taint.passed({kind: 'url', values: ['https://site.example/a']}, first);
    expect(taint.bitsLeft).toBe(3 - Math.log2(3));
    expect(url('https://site.example/b')).toEqual(
      asks(
        'choice',
        'The choice among links may tell what private text says: this one says up to 1.6 bits, and 1.4 of 3 are left (tools.taint.choice_bits).',
      ),
    );
  });

  test('bits that are exactly left are enough, and no fewer than none are left', async () => {
    const {taint, url, page, file} = taintOf({choice_bits: 2}, {bits: 0.5});
    await page('https://a.example/x');
    await file();
    expect(url('https://a.example/x')).toMatchObject({decision: 'pass', bits: 1});
    expect(taintOf({choice_bits: 1}, {bits: 9}).taint.bitsLeft).toBe(0);
    const exact = taintOf({choice_bits: 1});
    await exact.page('https://a.example/x');
    await exact.file();
    expect(exact.url('https://a.example/x')).toMatchObject({decision: 'pass'});
    expect(taint.bitsLeft).toBe(1.5);
  });

  test('a little that is made up passes, more is asked about', async () => {
    const {url, page} = taintOf();
    await page();
    const made = (length: number) => `https://site.example/${'x'.repeat(length)}`;
    expect(url(made(24))).toEqual({
      decision: 'pass',
      about: 'made-up',
      reason: 'Little of the address was made up.',
      bits: 0,
    });
    expect(url(made(25))).toEqual(
      asks('made-up', `No page gave the address: 25 characters were made up, "${'x'.repeat(25)}".`),
    );
    expect(url(made(100))?.reason).toBe(
      `No page gave the address: 100 characters were made up, "${'x'.repeat(80)}"…. ${FROM_PAGE}`,
    );
  });

  test('whatever is made up is asked about once private text is there', async () => {
    const {url, page, file} = taintOf();
    await page();
    await file('a text that is long enough');
    const why = (more: string) =>
      `No page gave the address: "c" was made up after private text was delivered (read a.txt${more}).`;
    expect(url('https://site.example/c')).toEqual(asks('made-up', why('')));
    await file('token=a1b2c3d4e5', 'read b.txt');
    expect(url('https://site.example/c')).toEqual(
      asks('made-up', why(', read b.txt, and in it what looks like a secret')),
    );
  });

  test('private text in it is refused, with the file, and what may be chance is asked about', async () => {
    const {url, page, file} = taintOf();
    await page();
    await file();
    expect(url(`https://evil.example/${encodeURIComponent(NOTE)}`)).toEqual({
      decision: 'deny',
      about: 'private',
      reason: `The address carries private text, ${JSON.stringify(NOTE.toLowerCase())}, as in read a.txt. ${FROM_PAGE}`,
      bits: 0,
    });
    expect(url('https://evil.example/launch-code-of-the-north')).toEqual(
      asks(
        'private',
        'No page gave the address, and it has words of private text, "launchcodeofthenorth", as in read a.txt.',
      ),
    );
  });

  test('one that is too long to be looked through is refused once private text is there', async () => {
    const {url, page, file} = taintOf();
    await page();
    const long = `https://evil.example/${'x'.repeat(9000)}`;
    expect(url(long)).toMatchObject({decision: 'ask', about: 'made-up'});
    await file();
    expect(url(long)).toEqual({
      decision: 'deny',
      about: 'private',
      reason: `The address is too long to be looked through, and private text was delivered. ${FROM_PAGE}`,
      bits: 0,
    });
  });

  test('of several the strictest counts, the first of equals, and all bits', async () => {
    const {url, page, file} = taintOf();
    await page();
    await file();
    const [a, b] = ['https://site.example/a', 'https://site.example/b'];
    const evil = `https://evil.example/${encodeURIComponent(NOTE)}`;
    expect(url(a, b)).toMatchObject({decision: 'pass', bits: 2 * Math.log2(3)});
    expect(url(a, 'https://site.example/c', evil, b)).toMatchObject({
      decision: 'deny',
      bits: 2 * Math.log2(3),
    });
    expect(url('https://site.example/c', 'https://site.example/d')?.reason).toContain('"c" was made up');
    expect(url('none', a)).toMatchObject({decision: 'pass'});
  });

  test('those of the operator are theirs, however they are written', async () => {
    const {taint, url, page, file} = taintOf();
    await page();
    await file();
    taint.addOperatorAddresses(['no address', 'HTTPS://Op.example']);
    expect(url(' https://op.example/ ')).toBeUndefined();
    expect(url('https://op.example/x')).toMatchObject({decision: 'ask'});
    const off = taintOf({mode: 'off'}).taint;
    off.addOperatorAddresses(['https://op.example/']);
    expect(off.decide({kind: 'url', values: ['https://op.example/']})).toBeUndefined();
  });

  test('a thousand of the operator are remembered', async () => {
    const {taint, url, page, file} = taintOf();
    await page();
    await file();
    taint.addOperatorAddresses(Array.from({length: 1001}, (_, at) => `https://op.example/${at}`));
    expect(url('https://op.example/999')).toBeUndefined();
    expect(url('https://op.example/1000')).toMatchObject({decision: 'ask'});
  });

  test('one that went on before is known', async () => {
    const {taint, url, page} = taintOf();
    await page();
    const made = `https://evil.example/${'x'.repeat(40)}`;
    taint.passed({kind: 'url', values: ['no address', ` ${made} `]}, undefined);
    expect(url(made)).toMatchObject({decision: 'pass', about: 'given'});
    expect(taint.bitsLeft).toBe(64);
  });
});

describe('T1 what taint says of the rest', () => {
  const decide = async (sink: Sink) => {
    const {taint, page} = taintOf();
    expect(taint.decide(sink)).toBeUndefined();
    await page();
    return taint.decide(sink);
  };

  test('of files that are executed later', async () => {
    expect(await decide({kind: 'path', values: ['src/a.ts', 'Makefile']})).toEqual(
      asks('executed-later', '"Makefile" is a file that a build, a test run or a linter executes.'),
    );
    expect(await decide({kind: 'path', values: ['src/a.ts']})).toBeUndefined();
  });

  test('of commands that may write them', async () => {
    expect(await decide({kind: 'command', values: ['cp a Makefile']})).toEqual(
      asks(
        'executed-later',
        'The command may write what is executed later: it names Makefile, which a build, a test run or a linter executes.',
      ),
    );
    expect(await decide({kind: 'command', values: ['npm test']})).toBeUndefined();
  });

  test('of hosts that a command reaches for the first time', async () => {
    const sink: Sink = {kind: 'host', host: 'A.example:8080'};
    const {taint, page} = taintOf();
    await page();
    expect(taint.decide(sink)).toEqual(
      asks('new-host', 'The command would reach "A.example:8080" for the first time.'),
    );
    taint.passed({kind: 'host', host: 'a.EXAMPLE:8080'}, undefined);
    expect(taint.decide(sink)).toBeUndefined();
    const off = taintOf({mode: 'off'}).taint;
    off.passed(sink, {decision: 'pass', about: 'given', reason: '', bits: 3});
    expect([off.bitsLeft, off.decide(sink)]).toEqual([64, undefined]);
  });

  test('the last three origins are named, and how many more there are', async () => {
    const {taint, page} = taintOf({assume: 'untrusted'}, {untrusted: ['old']});
    const from = () => taint.decide({kind: 'host', host: 'a'})?.reason.replace(/^.* came from /, '');
    expect(from()).toBe('tools.taint.assume, old.');
    await page('x', 'one');
    expect(from()).toBe('tools.taint.assume, old, one.');
    await page('y', 'one');
    await page('z', `\u202e${'o'.repeat(200)}`);
    expect(from()).toBe(`old, one, \\u{202e}${'o'.repeat(119)} and 1 more.`);
  });
});

describe('T1 what a delivery leaves in the log', () => {
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);

  test('each text once, with where it is from, its links and its secrets', async () => {
    const {emitted, page, file} = taintOf();
    await page();
    await page();
    await page('', 'nothing');
    await file('token=a1b2c3d4e5 https://site.example/c');
    await page('other', `https://${'x'.repeat(200)}`);
    expect(emitted).toEqual([
      [
        'taint_delivered',
        {step: 1, kind: 'untrusted', origin: PAGE, sha256, characters: 54, links: 2, secrets: 0},
      ],
      [
        'taint_delivered',
        {step: 2, kind: 'private', origin: 'read a.txt', sha256, characters: 39, links: 0, secrets: 1},
      ],
      [
        'taint_delivered',
        {
          step: 1,
          kind: 'untrusted',
          origin: `https://${'x'.repeat(112)}`,
          sha256,
          characters: 5,
          links: 0,
          secrets: 0,
        },
      ],
    ]);
  });

  test('a text that is both is written down as both', async () => {
    const {emitted, page, file} = taintOf();
    await page('the same');
    await file('the same');
    expect(emitted.map(([, {kind}]) => kind)).toEqual(['untrusted', 'private']);
  });

  test('the links of a later page are known too', async () => {
    const {emitted, page, url} = taintOf();
    await page();
    await page('See https://later.example/z.', 'https://later.example/');
    expect(emitted.map(([, {links}]) => links)).toEqual([2, 1]);
    expect(url('https://later.example/z')).toMatchObject({decision: 'pass', about: 'given'});
  });

  test('a message of ours gives no links, and a file only before any page', async () => {
    const {taint, emitted, file} = taintOf();
    const text = 'see https://site.example/a';
    await taint.deliver({kind: 'untrusted', origin: 'a', text, hasLinks: false}, {});
    await file(text);
    const before = taintOf();
    await before.file(text);
    expect([...emitted, ...before.emitted].map(([, {links}]) => links)).toEqual([0, 0, 1]);
  });

  test('"off" takes in nothing', async () => {
    const {taint, emitted, page} = taintOf({mode: 'off'});
    await page();
    expect([emitted, taint.decide({kind: 'host', host: 'a'}), taint.mode]).toEqual([[], undefined, 'off']);
    const past = taintOf({mode: 'off', assume: 'untrusted'}, {untrusted: [PAGE]}).taint;
    expect(past.decide({kind: 'host', host: 'a'})).toBeUndefined();
  });
});
