import {expect, test} from 'vitest';
import {openTestRuntime, readEvents, ruleOf, toolOf} from '../../../test/support/open-test-runtime.ts';
import {fail} from '../../core/failure/fail.ts';
import {RUNTIME_EVENTS} from './run-event.ts';

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
