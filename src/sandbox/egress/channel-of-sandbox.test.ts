import {expect, test} from 'vitest';
import {
  channelMounts,
  engineElsewhere,
  noRelay,
  UNHEARD,
  withoutProxy,
  withoutRelay,
} from './channel-of-sandbox.ts';

const channel = {socketPath: '/s', attach: () => () => {}, close: () => Promise.resolve()};

test('X1: a sandbox sees the socket of the gate, and whom to trust where the gate ends TLS', () => {
  expect(channelMounts(channel)).toEqual([{source: '/s', target: '/run/forge-egress/socket'}]);
  expect(channelMounts({...channel, bundlePath: '/b'})).toEqual([
    {source: '/s', target: '/run/forge-egress/socket'},
    {source: '/b', target: '/run/forge-egress/ca.pem'},
  ]);
});

test('X1: the port and the process of the relay are none of the command', () => {
  expect(withoutProxy([8080, 3128, 3129], channel)).toEqual([8080, 3129]);
  expect(withoutProxy(undefined, channel)).toBeUndefined();
  // Where there is no relay, a command may listen there itself.
  expect(withoutProxy([8080, 3128], undefined)).toEqual([8080, 3128]);
  expect(withoutRelay(['sleep', 'forge-relay', 'node'])).toEqual(['sleep', 'node']);
});

test('X1: what keeps a way out from being there is said with what to do', () => {
  expect(noRelay()).toMatchObject({
    ok: false,
    error: {
      code: 'sandbox_error',
      message:
        'The relay of the way out (tools.run.egress) did not start in the sandbox. Nothing was run. To fix it: give commands more memory and processes (tools.run.memory_mb, tools.run.max_processes), and see that Node itself can be read by the owner of the workspace.',
    },
  });
  expect(engineElsewhere()).toMatchObject({
    ok: false,
    error: {
      code: 'sandbox_error',
      message:
        'The Docker engine runs on another machine, so its containers cannot reach the way out of this one. Nothing was run. To fix it: use bubblewrap or an engine of this machine (DOCKER_HOST), or leave tools.run.egress empty.',
    },
  });
});

test('X1: of a command whose caller asks nothing, nobody is told and nobody is asked', () => {
  expect(Object.keys(UNHEARD)).toEqual(['onConnection']);
});
