import {createHash} from 'node:crypto';
import {mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync} from 'node:fs';
import {appendFile, readdir, readFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {
  echoTool,
  openTestRuntime,
  readEvents,
  ruleOf,
  tempDirectory,
  toolOf,
  writeNoteTool,
} from '../../test/support/open-test-runtime.ts';
import {type Clock, systemClock} from '../core/clock.ts';
import {fail, type Json, ok} from '../core/result.ts';
import type {PlanContext, Tool} from '../core/tool.ts';
import {PendingApprovals} from './approvals/pending.ts';
import {explainCall} from './explain-call.ts';
import {DAY_MS, isOurRunName, newRunName, pruneOnceAnHour, pruneRuns, type Retention} from './kept-runs.ts';
import {redactPayload} from './redact.ts';
import {createRegistry, type RegistryOptions} from './registry.ts';
import {lockRun} from './run-directory.ts';
import {RUNTIME_EVENTS} from './run-event.ts';
import {openSession, type Session} from './session.ts';
import {pastChanges} from './tool-call.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

describe('policy: what of a payload is kept', () => {
  test('a text of 1000 characters is, of a longer one 200, its length and its hash', () => {
    const [fits, long] = ['x'.repeat(1000), 'x'.repeat(1001)];
    expect(redactPayload({fits, long})).toEqual({
      fits,
      long: `${'x'.repeat(200)}… [1001 characters, sha256 ${hash(long)}]`,
    });
  });

  test('a long name is shortened in the same way', () => {
    const name = 'n'.repeat(1001);
    expect(redactPayload({[name]: 1})).toEqual({
      [`${'n'.repeat(200)}… [1001 characters, sha256 ${hash(name)}]`]: 1,
    });
  });

  test('a hundred entries are, and how many more there were', () => {
    const list = Array.from({length: 101}, (_, at) => at);
    const object = Object.fromEntries(list.map(at => [`k${at}`, at]));
    const kept = redactPayload({list, object, fits: list.slice(0, 100)}) as Readonly<Record<string, Json>>;
    expect(kept['list']).toEqual([...list.slice(0, 100), '… 1 more']);
    expect(kept['fits']).toEqual(list.slice(0, 100));
    expect(Object.entries(kept['object'] ?? {})).toEqual([
      ...Object.entries(object).slice(0, 100),
      ['…', '1 more'],
    ]);
  });

  test('twelve levels are', () => {
    const nested = (levels: number): Json =>
      Array.from({length: levels}).reduce<Json>(inner => ({a: inner}), 'end');
    expect(redactPayload(nested(12) as never)).toEqual(nested(12));
    expect(JSON.stringify(redactPayload(nested(13) as never))).toBe(
      `${'{"a":'.repeat(12)}"…"${'}'.repeat(12)}`,
    );
  });

  test('32,000 characters are, and the rest is left out', () => {
    const texts = Array.from({length: 40}, () => 'x'.repeat(996));
    const kept = redactPayload({texts})['texts'] as readonly string[];
    expect(kept.filter(text => text === texts[0])).toHaveLength(32);
    expect(kept.slice(32)).toEqual(Array(8).fill('…'));
    const numbers = Array.from({length: 50}, () => Array.from({length: 100}, () => 7));
    const rest = redactPayload({numbers})['numbers'] as readonly Json[];
    expect(rest.filter(one => one === '…')).toHaveLength(10);
  });

  test('secrets go by their names, in whatever is below them, and an address shows where it is', () => {
    expect(
      redactPayload({
        password: 'a',
        empty: {password: ''},
        token: ['a', {b: 'c', n: 7, yes: true, none: null}],
        urls: ['https://a.example/?q'],
        url: ['data:text/html,x', 'https://u:p@a.example/b?q'],
        final_url: 'https://a.example/b?q',
        text: 'data:x',
        n: 7,
        yes: false,
        none: null,
      }),
    ).toEqual({
      password: '[redacted]',
      empty: {password: ''},
      token: ['[redacted]', {b: '[redacted]', n: 7, yes: true, none: null}],
      urls: ['https://a.example/?…'],
      url: ['data:…', 'https://…@a.example/b?…'],
      final_url: 'https://a.example/b?…',
      text: 'data:…',
      n: 7,
      yes: false,
      none: null,
    });
  });

  test('other limits are kept to as well', () => {
    const limits = {longestText: 4, shown: 2, mostEntries: 2, deepest: 2, mostCharacters: 1000};
    expect(redactPayload({a: 'abcd', b: 'abcde', c: 1}, limits)).toEqual({
      a: 'abcd',
      b: `ab… [5 characters, sha256 ${hash('abcde')}]`,
      '…': '1 more',
    });
    expect(redactPayload({a: {b: {c: 1}}}, limits)).toEqual({a: {b: '…'}});
  });
});

/** Escapes of surrogates are all that `JSON.stringify` writes of a lone one. */
const HALF = /\\ud[89a-f]/;

test('review B8: neither the log nor a record nor a result has half a character, wherever a text is cut', async () => {
  const emoji = '😀'.repeat(100_000);
  const boom = toolOf('boom', async () => {
    throw new Error(`x${emoji}`);
  });
  const {call, directory, runtime} = await openTestRuntime({tools: [echoTool, boom], maxOutputBytes: 5000});
  const results = [
    await call('echo', {text: `x${emoji}`}),
    await call('echo', {text: emoji, ['\ud800']: 1}),
    await call('echo', {text: '\udc00'}),
    await call('boom'),
    await call(`x${emoji}`),
    await call('echo', {text: 'a'}, {maxOutputBytes: 1}),
  ];
  await runtime.session.pending.add({tool: 'x', summary: '', preview: `x${emoji}`, hash: 'a'.repeat(64)});
  const [pending] = await new PendingApprovals(directory, runtime.clock)
    .list()
    .then(found => (found.ok ? found.value : []));
  expect(JSON.stringify(results)).not.toMatch(HALF);
  expect(JSON.stringify(pending)).not.toMatch(HALF);
  for (const file of ['events.jsonl', ...[1, 2, 3, 4, 5, 6].map(step => `calls/step_000${step}.json`)]) {
    const text = await readFile(join(directory, file), 'utf8');
    expect(text).not.toMatch(HALF);
    expect(text).not.toMatch(/\p{Surrogate}/u);
  }
});

test('policy: explain says what would be decided, and does nothing', async () => {
  const where = await tempDirectory();
  const {runtime, events} = await openTestRuntime({
    tools: [writeNoteTool(where)],
    approval: {allowlist: ['write_file']},
  });
  const before = await events();
  expect(await explainCall('write_note', {path: 'a.txt', text: 'hello'}, runtime)).toMatchObject({
    ok: true,
    value: {
      intent: {summary: 'write_note a.txt', fileHashes: {'a.txt': expect.any(String)}},
      verdict: {
        decision: 'allow',
        by: 'tools.approval.allowlist',
        overruled: [{decision: 'ask', by: 'tools.approval.mode'}],
      },
    },
  });
  expect(await explainCall('write_note', {}, runtime)).toMatchObject({
    ok: false,
    error: {code: 'invalid_params'},
  });
  expect(await explainCall('nope', {}, runtime)).toMatchObject({
    ok: false,
    error: {code: 'unknown_tool'},
  });
  expect([await readdir(where), await events()]).toEqual([[], before]);
});

describe('explain', () => {
  test('an intent is worked out without a run', async () => {
    let given: PlanContext | undefined;
    const looks: Tool = {
      ...toolOf('looks', async () => 1),
      prepare: () =>
        ok({
          timeoutMs: 1000,
          outline: {},
          intend: async context => {
            given = context;
            return ok({subject: {kind: 'path', values: ['.']}, summary: 's', preview: 'p', fileHashes: {}});
          },
          execute: async () => ok({data: 1, fields: {}}),
        }),
    };
    const {runtime} = await openTestRuntime({tools: [looks]});
    expect((await explainCall('looks', {}, runtime)).ok).toBe(true);
    expect(await given?.pastChanges()).toEqual({ok: true, value: {directory: '', changes: []}});
    expect(given?.deadline.timeoutMs).toBe(1000);
  });

  test('what the tool says against the call is the answer', async () => {
    const refuses: Tool = {
      ...toolOf('refuses', async () => 1, {action: 'run'}),
      prepare: () =>
        ok({
          timeoutMs: 1000,
          outline: {},
          intend: async () => fail('file_not_found', 'No such file.', {path: 'a'}),
          execute: async () => ok({data: 1, fields: {}}),
        }),
    };
    const {runtime} = await openTestRuntime({tools: [refuses]});
    expect(await explainCall('refuses', {}, runtime)).toMatchObject({
      ok: false,
      error: {code: 'file_not_found', message: 'No such file.'},
    });
  });

  test('a dry run is explained as what only reads', async () => {
    const dry: Tool = {
      ...toolOf('dry', async () => 1, {action: 'write_file'}),
      prepare: () =>
        ok({
          timeoutMs: 1000,
          outline: {},
          intend: async () =>
            ok({subject: {kind: 'path', values: []}, summary: '', preview: '', fileHashes: {}, dryRun: true}),
          execute: async () => ok({data: 1, fields: {}}),
        }),
    };
    const {runtime} = await openTestRuntime({tools: [dry]});
    expect(await explainCall('dry', {}, runtime)).toMatchObject({value: {verdict: {by: 'read-only'}}});
  });
});

const LIMITS: Retention = {maxAgeMs: 30 * DAY_MS, maxBytes: 1e9};

async function openPlace() {
  const root = await tempDirectory();
  const clock = createManualClock();
  /** A run whose log was written to so many days ago. */
  const add = (days: number, bytes = 10, name = newRunName(clock)): string => {
    mkdirSync(join(root, name, 'calls'), {recursive: true});
    writeFileSync(join(root, name, 'calls/step_0001.json'), 'x'.repeat(bytes));
    const log = join(root, name, 'events.jsonl');
    writeFileSync(log, '');
    const at = (clock.now() - days * DAY_MS) / 1000;
    utimesSync(log, at, at);
    return name;
  };
  const prune = async (limits: Partial<Retention> = {}, dryRun = false) => {
    const pruned = await pruneRuns(root, {...LIMITS, ...limits}, {clock, dryRun});
    if (!pruned.ok) throw new Error(pruned.error.message);
    return {names: pruned.value.removed.map(({name}) => name), kept: pruned.value.kept};
  };
  return {root, clock, add, prune, left: () => readdirSync(root).filter(isOurRunName).sort()};
}

test('M1: what is older than the limit goes, what is younger stays', async () => {
  const {add, prune, left} = await openPlace();
  const [old, young] = [add(31), add(29)];
  expect(await prune({}, true)).toEqual({names: [old], kept: 1});
  expect(left()).toEqual([old, young].sort());
  expect(await prune()).toEqual({names: [old], kept: 1});
  expect(left()).toEqual([young]);
});

test('M1: while all runs are too large or too many, the oldest go, down to a day of age', async () => {
  const {add, prune, left} = await openPlace();
  const [four, three, two, today] = [add(4, 100), add(3, 100), add(2, 100), add(0.9, 1000)];
  expect(await prune({maxBytes: 1200})).toEqual({names: [four], kept: 3});
  expect(await prune({maxRuns: 2})).toEqual({names: [three], kept: 2});
  expect(await prune({maxBytes: 1, maxRuns: 0})).toEqual({names: [two], kept: 1});
  expect(left()).toEqual([today]);
});

test('M1: a run that is open or waits for an approval stays, however old it is', async () => {
  const {root, clock, add, prune, left} = await openPlace();
  const [open, waits, gone] = [add(90), add(90), add(90)];
  const lock = await lockRun(join(root, open), clock);
  if (!lock.ok) throw new Error(lock.error.message);
  onTestFinished(lock.value);
  const question = {tool: 'run', summary: 'run make', preview: 'make', hash: 'a'.repeat(64)};
  await new PendingApprovals(join(root, waits), clock).add(question);
  expect((await prune({}, true)).names).toEqual([gone]);
  expect(await prune()).toEqual({names: [gone], kept: 2});
  expect(left()).toEqual([open, waits].sort());
});

test('M1: a run that was killed before its first line has the time of its name', async () => {
  const {root, clock, prune, left} = await openPlace();
  const names = [40, 1].map(days => newRunName({...clock, now: () => clock.now() - days * DAY_MS}));
  for (const name of names) mkdirSync(join(root, name));
  expect((await prune()).names).toEqual([names[0]]);
  expect(left()).toEqual([names[1]]);
});

test('M1: nothing is removed that does not have a name of ours, and no link is followed', async () => {
  const {root, clock, add, prune} = await openPlace();
  const outside = await tempDirectory();
  writeFileSync(join(outside, 'precious'), '');
  add(99, 10, 'my-run');
  symlinkSync(outside, join(root, newRunName(clock)));
  symlinkSync(outside, join(root, add(99), 'old'));
  expect((await prune()).names).toHaveLength(1);
  expect(readdirSync(outside)).toEqual(['precious']);
  expect(readdirSync(root)).toContain('my-run');
  expect(await pruneRuns(join(root, 'none'), LIMITS, {clock})).toEqual({
    ok: true,
    value: {removed: [], kept: 0},
  });
});

test('M1: who prunes while another does, waits for nothing and breaks nothing', async () => {
  const {root, clock, add, left} = await openPlace();
  for (let at = 0; at < 20; at += 1) add(40);
  const young = add(1);
  const both = await Promise.all([1, 2].map(() => pruneRuns(root, LIMITS, {clock})));
  expect(both.map(({ok}) => ok).sort()).toEqual([false, true]);
  expect(both.find(({ok}) => !ok)).toMatchObject({error: {details: {error: 'in_use'}}});
  expect(left()).toEqual([young]);
  // What a pruner left that was killed in the middle of a run.
  mkdirSync(join(root, '.removed/half/calls'), {recursive: true});
  await pruneRuns(root, LIMITS, {clock});
  expect(readdirSync(root)).toEqual([young]);
});

test('M1: sessions look for old runs once an hour', async () => {
  const {root, clock, add, left} = await openPlace();
  const start = (at: Clock) => pruneOnceAnHour(root, LIMITS, at);
  const later = {...clock, now: () => clock.now() + 3_600_001};
  add(40);
  expect(await start(clock)).toMatchObject({ok: true});
  expect(left()).toEqual([]);
  add(40);
  await start(clock);
  expect(left()).toHaveLength(1);
  await start(later);
  expect(left()).toEqual([]);
});

const fetchTool = toolOf('web_fetch', async () => null, {action: 'web_fetch'});
const turnOn = 'Turn it on.';
const OFF = new Map([['web_fetch', {setting: 'tools.webfetch.enabled', why: 'is false', turnOn}]]);

function registryOf(options: Partial<RegistryOptions>) {
  return createRegistry({
    mode: 'enabled',
    tools: [echoTool, fetchTool],
    switchedOff: new Map(),
    definitions: [],
    turnModeOn: turnOn,
    ...options,
  });
}

function names(options: Partial<RegistryOptions>): readonly string[] {
  return registryOf(options).advertised.map(({name}) => name);
}

describe('SRD 5.2', () => {
  test('FR-WF-CFG-PREC-01 tools.mode=disabled disables web_fetch whatever its own setting says', () => {
    expect(names({mode: 'disabled'})).toEqual([]);
    expect(registryOf({mode: 'disabled'}).find('web_fetch')).toMatchObject({
      ok: false,
      error: {code: 'tool_disabled', details: {tool: 'web_fetch', setting: 'tools.mode'}},
    });
  });

  test('FR-WF-CFG-PREC-02 tools.mode=enabled registers what its own setting enables', () => {
    expect(names({})).toEqual(['echo', 'web_fetch']);
    expect(registryOf({}).find('web_fetch')).toEqual({ok: true, value: fetchTool});
    expect(names({switchedOff: OFF})).toEqual(['echo']);
    expect(registryOf({switchedOff: OFF}).find('web_fetch')).toMatchObject({
      ok: false,
      error: {code: 'tool_disabled', details: {setting: 'tools.webfetch.enabled'}},
    });
  });

  test('FR-WF-CFG-PREC-03 parse_only advertises [[tools.definitions]] only, and executes nothing', () => {
    const definitions = [
      {name: 'web_fetch', description: '', parameters: {}},
      {name: 'theirs', description: 'Their tool.', parameters: {type: 'object', title: 'x'}},
      {name: 'bare', description: '', parameters: {}},
    ];
    const registry = registryOf({mode: 'parse_only', definitions, switchedOff: OFF});
    expect(registry.advertised).toEqual([
      {name: 'web_fetch', description: 'web_fetch', paramsSchema: fetchTool.paramsSchema},
      {name: 'theirs', description: 'Their tool.', paramsSchema: {type: 'object', title: 'x'}},
      {name: 'bare', description: '', paramsSchema: {type: 'object'}},
    ]);
    expect(names({mode: 'parse_only'})).toEqual([]);
    for (const name of ['web_fetch', 'theirs', 'echo']) {
      expect(registry.find(name)).toMatchObject({
        ok: false,
        error: {code: 'tool_disabled', details: {setting: 'tools.mode'}},
      });
    }
    expect(registry.find('other')).toMatchObject({ok: false, error: {code: 'unknown_tool'}});
  });
});

test('policy: an unknown tool comes with the nearest one', () => {
  const find = (name: string) => {
    const found = registryOf({}).find(name);
    return found.ok ? undefined : found.error;
  };
  expect(find('webfetch')).toMatchObject({
    code: 'unknown_tool',
    message: 'There is no tool "webfetch". Did you mean "web_fetch"? The tools are echo, web_fetch.',
    details: {tool: 'webfetch', available: ['echo', 'web_fetch'], did_you_mean: 'web_fetch'},
  });
  expect(find('WEB-FETCH')?.details['did_you_mean']).toBe('web_fetch');
  expect(find('zzz')?.details).toEqual({tool: 'zzz', available: ['echo', 'web_fetch']});
  expect(find('x'.repeat(100_000))?.message.length).toBeLessThan(200);
  for (const name of ['__proto__', 'constructor', '']) expect(find(name)?.code).toBe('unknown_tool');
});

test('policy: a name that is taken or no name is a bug', () => {
  expect(() => registryOf({tools: [echoTool, echoTool]})).toThrow('same name');
  expect(() => registryOf({tools: [toolOf('Bad-Name', async () => null)]})).toThrow('snake_case');
});

describe('SRD 5.2: a tool that is not there', () => {
  const messageOf = (options: Partial<RegistryOptions>, name = 'zzz') => {
    const registry = createRegistry({
      mode: 'enabled',
      tools: [echoTool],
      switchedOff: new Map(),
      definitions: [],
      turnModeOn: turnOn,
      ...options,
    });
    const found = registry.find(name);
    return found.ok ? '' : found.error.message;
  };

  test.each<[string, Partial<RegistryOptions>, string, string]>(
    // biome-ignore format: a case is a line
    [
      ['the tools that there are', {}, 'zzz', 'There is no tool "zzz". The tools are echo.'],
      ['that there is none', {tools: []}, 'zzz', 'There is no tool "zzz". No tool is enabled.'],
      ['why there is none', {mode: 'disabled'}, 'zzz', 'There is no tool "zzz". Every tool is off: tools.mode is "disabled". Turn it on.'],
      ['one that is switched off', {switchedOff: new Map([['echo', {setting: 'tools.echo.enabled', why: 'is false', turnOn}]])}, 'echo', 'echo is off: tools.echo.enabled is false. Turn it on.'],
      ['the mode before the setting', {mode: 'disabled', switchedOff: new Map([['echo', {setting: 'x', why: 'is false', turnOn}]])}, 'echo', 'echo is off: tools.mode is "disabled". Turn it on.'],
      ['one that is only written', {mode: 'parse_only', definitions: [{name: 'theirs', description: '', parameters: {}}]}, 'theirs', 'theirs is off: tools.mode is "parse_only". Turn it on.'],
      ['a long name', {}, 'z'.repeat(65), `There is no tool "${'z'.repeat(64)}". The tools are echo.`],
    ],
  )('%s', (_, options, name, message) => {
    expect(messageOf(options, name)).toBe(message);
  });

  test('a name has 64 characters at most, lower case, and begins with a letter', () => {
    const named = (name: string) => () => messageOf({tools: [toolOf(name, async () => 1)]});
    expect(named(`a${'_'.repeat(63)}`)).not.toThrow();
    for (const name of [`a${'_'.repeat(64)}`, '', 'A', '1a', '_a', 'a-b', ' a', 'a '])
      expect(named(name)).toThrow(`Expected a tool name in snake_case, got "${name}".`);
    expect(() => messageOf({tools: [echoTool, echoTool]})).toThrow('Two tools have the same name.');
  });
});

test('policy: the table of events is what is written, field by field', async () => {
  const writes = toolOf('writes', async () => 1, {
    action: 'write_file',
    subject: {kind: 'path', values: ['a']},
  });
  const rule = ruleOf({path: 'a'});
  const {runtime, call, directory} = await openTestRuntime({
    tools: [writes],
    rememberRule: async () => fail('io_error', 'Disk full.'),
  });
  await call('writes');
  await call('nope');
  await call('writes', {}, {approver: {ask: async () => ({answer: 'refuse', reason: 'no'})}});
  await call('writes', {}, {approver: {ask: async () => ({answer: 'always', rule})}});
  await runtime.session.close();
  const page = toolOf('page', async () => 'text', {delivers: 'untrusted'});
  const obeys = toolOf('obeys', async () => 1, {
    action: 'write_file',
    subject: {kind: 'path', values: ['AGENTS.md']},
  });
  const tainted = await openTestRuntime({tools: [page, obeys], directory, taint: {mode: 'enforce'}});
  await tainted.call('page');
  await tainted.call('obeys');
  await tainted.runtime.session.close();
  const off = await openTestRuntime({mode: 'disabled', directory});
  await off.call('echo');
  await off.runtime.session.close();

  const written = new Map<string, Set<string>>();
  for (const {event, payload} of await readEvents(directory)) {
    written.set(event, new Set([...(written.get(event) ?? []), ...Object.keys(payload)]));
  }
  // A torn line is in session.test.ts.
  const expected = Object.entries(RUNTIME_EVENTS).filter(([event]) => event !== 'log_repaired');
  expect(new Set(written.keys())).toEqual(new Set(expected.map(([event]) => event)));
  for (const [event, {payload}] of expected) {
    expect([event, [...(written.get(event) ?? [])].sort()]).toEqual([event, [...payload].sort()]);
  }
});

const ioError = (path: string, error: string, operation: string) => ({
  code: 'io_error',
  message: `Could not ${operation} ${JSON.stringify(path)}: ${error}. Check permissions and free space.`,
  retryable: false,
  details: {path, error, operation},
});

async function sessionOf(directory: string): Promise<Session> {
  const session = await openSession({directory, workspace: undefined, clock: systemClock});
  if (!session.ok) throw new Error(session.error.message);
  onTestFinished(async () => void (await session.value.close()));
  return session.value;
}

describe('review R18: what the log says of changes', () => {
  const HASH = 'a'.repeat(64);

  test('each change, whole, and nothing that is none', async () => {
    const directory = await tempDirectory();
    const session = await sessionOf(directory);
    const change = {step: 1, changed_files: ['a', 7, 'b'], undo_record_sha256: HASH};
    session.emit('PATCH_APPLIED', change);
    session.emit('PATCH_APPLIED', {...change, step: 2, undoes: 1});
    session.emit('PATCH_APPLIED', {...change, step: '3'});
    session.emit('PATCH_APPLIED', {...change, undo_record_sha256: null});
    session.emit('PATCH_APPLIED', {...change, changed_files: 'a'});
    session.emit('PATCH_APPLIED', {...change, step: 4, undoes: '1'});
    session.emit('OTHER', change);
    expect(await pastChanges(directory)).toEqual({
      ok: true,
      value: {
        directory,
        changes: [
          {step: 1, files: ['a', 'b'], recordHash: HASH, undoes: undefined},
          {step: 2, files: ['a', 'b'], recordHash: HASH, undoes: 1},
          {step: 4, files: ['a', 'b'], recordHash: HASH, undoes: undefined},
        ],
      },
    });
  });

  test('a log that was changed is not believed, and half a line is no harm', async () => {
    const directory = await tempDirectory();
    const session = await sessionOf(directory);
    session.emit('PATCH_APPLIED', {step: 1, changed_files: ['a'], undo_record_sha256: HASH});
    const path = join(directory, 'events.jsonl');
    await appendFile(path, '{"seq":');
    expect(await pastChanges(directory)).toMatchObject({ok: true, value: {changes: [{step: 1}]}});
    await appendFile(path, '\n');
    expect(await pastChanges(directory)).toEqual({
      ok: false,
      error: {
        code: 'io_error',
        message: `${path} was changed after it was written, so what it says of earlier steps cannot be trusted. Nothing was undone.`,
        retryable: false,
        details: {path, error: 'log_tampered', operation: 'undo'},
      },
    });
    await rm(path);
    expect(await pastChanges(directory)).toEqual({ok: false, error: ioError(path, 'ENOENT', 'read')});
  });
});
