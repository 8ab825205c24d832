import fc from 'fast-check';
import {expect, test} from 'vitest';
import {approvalHash} from './approval-hash.ts';
import {canonicalJson} from './canonical-json.ts';

test('policy: a decision is bound to tool, arguments and files', () => {
  const call = {tool: 'run', params: {command: 'ls', env: {A: '1', B: '2'}}, fileHashes: {'a.ts': 'ff'}};
  const hash = approvalHash(call);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(approvalHash({...call, params: {env: {B: '2', A: '1'}, command: 'ls'}})).toBe(hash);
  for (const other of [
    {...call, tool: 'run2'},
    {...call, params: {...call.params, command: 'ls '}},
    {...call, params: {...call.params, env: {A: '1'}}},
    {...call, fileHashes: {'a.ts': 'fe'}},
    {...call, fileHashes: {}},
  ]) {
    expect(approvalHash(other)).not.toBe(hash);
  }
});

test('policy: canonical JSON is JSON, and the same for equal values', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const text = canonicalJson(value as never);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  );
  expect(canonicalJson({b: 1, a: [{d: null, c: 'x'}]})).toBe('{"a":[{"c":"x","d":null}],"b":1}');
});
