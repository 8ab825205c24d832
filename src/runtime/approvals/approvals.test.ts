import {createHash} from 'node:crypto';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {resolveSection} from '../../config/resolve-config.ts';
import type {Json} from '../../core/result.ts';
import type {Section} from '../../core/setting.ts';
import {RUNTIME_EVENTS} from '../run-event.ts';
import {TAINT_OFF, taintSection} from '../taint/options.ts';
import {approvalHash, canonicalJson} from './hash.ts';
import {approvalSection} from './options.ts';

const inOne = (value: Json): string => [...canonicalJson(value)].join('');

test('policy: a decision is bound to tool, arguments and files', async () => {
  const call = {tool: 'run', params: {command: 'ls', env: {A: '1', B: '2'}}, fileHashes: {'a.ts': 'ff'}};
  const hash = await approvalHash(call);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await approvalHash({...call, params: {env: {B: '2', A: '1'}, command: 'ls'}})).toBe(hash);
  for (const other of [
    {...call, tool: 'run2'},
    {...call, params: {...call.params, command: 'ls '}},
    {...call, params: {...call.params, env: {A: '1'}}},
    {...call, fileHashes: {'a.ts': 'fe'}},
    {...call, fileHashes: {}},
  ]) {
    expect(await approvalHash(other)).not.toBe(hash);
  }
});

test('policy: canonical JSON is JSON, and the same for equal values', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const text = inOne(value as never);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(inOne(JSON.parse(text))).toBe(text);
    }),
  );
  expect(inOne({b: 1, a: [{d: null, c: 'x'}]})).toBe('{"a":[{"c":"x","d":null}],"b":1}');
});

test('review R12: contents of 24 MB are hashed in turns, and the hash is that of the whole', {
  tags: 'stress',
}, async () => {
  const shift = '😀'.repeat(6_000_000);
  for (const content of [shift, `x${shift}`, '\ud83d'.repeat(2_000_000), `${'y'.repeat(1_048_575)}😀`]) {
    const call = {tool: 'write_file', params: {content, path: 'a'}, fileHashes: {}};
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const hash = await approvalHash(call);
    isDone = true;
    const whole = `{"fileHashes":{},"params":{"content":${JSON.stringify(content)},"path":"a"},"tool":"write_file"}`;
    expect(hash).toBe(createHash('sha256').update(whole).digest('hex'));
    expect(turns).toBeGreaterThanOrEqual(Math.floor(content.length / 2_000_000));
  }
});

test.each([65_535, 65_536, 200_000, 2_300_000])(
  'policy: contents of %d characters have the hash of the whole',
  async length => {
    const content = Array.from({length}, (_, at) => 'abcdefg'[at % 7]).join('');
    const call = {tool: 'write_file', params: {content, path: 'a'}, fileHashes: {a: 'f'}};
    const whole = `{"fileHashes":{"a":"f"},"params":{"content":${JSON.stringify(content)},"path":"a"},"tool":"write_file"}`;
    let turns = 0;
    let isDone = false;
    const count = () => {
      if (isDone) return;
      turns += 1;
      setImmediate(count);
    };
    setImmediate(count);
    expect(await approvalHash(call)).toBe(createHash('sha256').update(whole).digest('hex'));
    isDone = true;
    expect(turns).toBe(Math.floor(length / 1_048_576));
  },
);

test.each([
  [[], '[]'],
  [{}, '{}'],
  ['', '""'],
  [[1, [2]], '[1,[2]]'],
  [{b: {}, a: [], B: null}, '{"B":null,"a":[],"b":{}}'],
  [{a: '"\n'}, '{"a":"\\"\\n"}'],
])('policy: %j is canonically %s', (value, text) => {
  expect(inOne(value)).toBe(text);
});

function resolved(section: Section, raw: unknown) {
  const findings = {warnings: [], problems: []};
  const values = resolveSection(section, raw, {env: {}, cwd: '/', tempDir: '/tmp'}, findings);
  return {values, ...findings};
}

const EMPTY = {host: '', path: '', command_prefix: '', match: [], not_match: [], reason: ''};

type Documented = Section['entries'][string];

/** Each entry by its name with a point for each table that it is in. */
function entriesOf(section: Section): readonly (readonly [string, Documented])[] {
  const walk = (entry: Documented, name: string): readonly (readonly [string, Documented])[] => [
    [name, entry],
    ...('entries' in entry
      ? Object.entries(entry.entries).flatMap(([key, one]) => walk(one, `${name}.${key}`))
      : []),
  ];
  return walk(section, '');
}

describe('ruling H3: [tools.approval]', () => {
  test('what is not written asks, and allows and denies nothing', () => {
    expect(resolved(approvalSection, undefined)).toEqual({
      values: {mode: 'prompt', allowlist: [], denylist: [], rules: []},
      warnings: [],
      problems: [],
    });
  });

  test('what is written is taken', () => {
    const rule = {
      tool: 'run',
      decision: 'allow',
      command_prefix: 'npm',
      tainted: true,
      reason: 'It is ours.',
    };
    const raw = {mode: 'auto', allowlist: ['run'], denylist: ['web_fetch'], rules: [rule]};
    expect(resolved(approvalSection, raw)).toEqual({
      values: {...raw, rules: [{...EMPTY, ...rule}]},
      warnings: [],
      problems: [],
    });
    for (const mode of ['prompt', 'auto', 'deny'])
      expect(resolved(approvalSection, {mode})).toMatchObject({values: {mode}, problems: []});
    for (const decision of ['allow', 'ask', 'deny'])
      expect(resolved(approvalSection, {rules: [{tool: '*', decision}]})).toMatchObject({problems: []});
  });

  test('a rule without its tool or its decision stops the start', () => {
    expect(resolved(approvalSection, {rules: [{path: 'a'}]}).problems).toEqual([
      'Expected rules[0] to have the key "tool". Add it.',
      'Expected rules[0] to have the key "decision". Add it.',
    ]);
    expect(resolved(approvalSection, {rules: [{tool: '*', decision: 'ask'}]}).values).toEqual({
      mode: 'prompt',
      allowlist: [],
      denylist: [],
      rules: [{...EMPTY, tool: '*', decision: 'ask', tainted: false}],
    });
  });

  test.each([
    ['a mode', {mode: 'never'}],
    ['a decision', {rules: [{tool: '*', decision: 'never'}]}],
    ['a list', {allowlist: 'run'}],
    ['a flag', {rules: [{tool: '*', decision: 'ask', tainted: 'yes'}]}],
  ])('%s that is none stops the start', (_, raw) => {
    expect(resolved(approvalSection, raw).problems).toHaveLength(1);
  });
});

describe('T1: [tools.taint]', () => {
  test('what is not written follows nothing', () => {
    expect(resolved(taintSection, undefined)).toEqual({values: TAINT_OFF, warnings: [], problems: []});
    expect(TAINT_OFF).toEqual({mode: 'off', assume: 'none', choice_bits: 64});
  });

  test.each([
    [{mode: 'off', assume: 'none', choice_bits: 0}],
    [{mode: 'warn', assume: 'untrusted', choice_bits: 4096}],
    [{mode: 'enforce', assume: 'none', choice_bits: 1}],
  ])('%j is taken', raw => {
    expect(resolved(taintSection, raw)).toEqual({values: raw, warnings: [], problems: []});
  });

  test('more bits than there may be are clamped, with a warning', () => {
    const {values, warnings} = resolved(taintSection, {choice_bits: 4097});
    expect(values).toMatchObject({choice_bits: 4096});
    expect(warnings).toEqual([expect.stringContaining('4096')]);
    expect(resolved(taintSection, {choice_bits: -1}).values).toMatchObject({choice_bits: 0});
    expect(resolved(taintSection, {mode: 'on'}).problems).toHaveLength(1);
  });
});

describe('what is told of them', () => {
  test.each([
    ['approval', approvalSection],
    ['taint', taintSection],
  ])('every setting of %s has its sentences', (_, section) => {
    for (const [name, {doc}] of entriesOf(section))
      expect([name, doc]).toEqual([name, expect.stringMatching(/^\S.{10,}\.$/)]);
  });

  test('what the SRD does not have says so', () => {
    const extensions = (section: Section) =>
      entriesOf(section).flatMap(([name, {extension}]) => (extension === true ? [name] : []));
    expect(extensions(approvalSection)).toEqual(['.rules', '.rules.tainted']);
    expect(extensions(taintSection)).toEqual(['', '.mode', '.assume', '.choice_bits']);
    expect(taintSection.entries.choice_bits.unit).toBe('bits');
  });

  test('ruling W10: every event of the runtime says when it is written, and what is in it', () => {
    for (const [event, {when, payload}] of Object.entries(RUNTIME_EVENTS)) {
      expect([event, when]).toEqual([event, expect.stringMatching(/^[A-Z].{10,}\.$/)]);
      expect(payload.every(field => /^[a-z][a-z_0-9]+$/.test(field))).toBe(true);
    }
    // session.test.ts has such a line.
    expect(RUNTIME_EVENTS.log_repaired.payload).toEqual(['torn_bytes', 'kept_in']);
  });
});
