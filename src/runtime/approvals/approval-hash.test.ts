import {createHash} from 'node:crypto';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {Json} from '../../core/json.ts';
import {approvalHash} from './approval-hash.ts';
import {canonicalJson} from './canonical-json.ts';

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
  tags: 'slow',
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
