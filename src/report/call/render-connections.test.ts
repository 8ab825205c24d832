import {expect, test} from 'vitest';
import type {RecordedCall} from '../run-history.ts';
import {Allowance} from './allowance.ts';
import {renderConnections} from './render-connections.ts';

function callWith(hosts: readonly string[]): RecordedCall {
  const events = hosts.map(host => ({
    at: 0,
    event: 'egress_connection',
    payload: {host, port: 443, decision: 'refused', reason: 'why', address: '', bytes_up: 1, bytes_down: 2},
  }));
  return {events} as unknown as RecordedCall;
}

test('X1 the connections of a call are one table, a row each, and as many as fit a page', () => {
  expect(renderConnections(callWith([]), new Allowance(1000))).toEqual([]);
  const [part] = renderConnections(callWith(['<b>evil.test']), new Allowance(1000));
  expect(JSON.stringify(part)).toContain(
    '["tr",{},[["td",{},["refused"]],["td",{},["<b>evil.test:443"]],["td",{},[""]],["td",{},["1"]],["td",{},["2"]],["td",{},["0"]],["td",{},["why"]]]]',
  );
  const [long] = renderConnections(callWith(Array(500).fill('a.test')), new Allowance(1_000_000));
  expect(JSON.stringify(long).match(/"refused"/g)).toHaveLength(200);
  expect(JSON.stringify(long)).toContain('300 more are in the log.');
});
