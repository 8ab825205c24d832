import type {EgressChannel, EgressVisitor} from '../../core/egress/egress-gate.ts';
import type {Result} from '../../core/result.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {PROXY_PORT, RELAY_NAME, RELAY_SOCKET, TRUSTED_BUNDLE} from './relay-script.ts';

/** For a command whose caller does not ask what it connects to. */
export const UNHEARD: EgressVisitor = {onConnection: () => {}};

/** What of the gate a sandbox sees, and where. */
export function channelMounts({
  socketPath,
  bundlePath,
}: EgressChannel): readonly {readonly source: string; readonly target: string}[] {
  return [
    {source: socketPath, target: RELAY_SOCKET},
    ...(bundlePath === undefined ? [] : [{source: bundlePath, target: TRUSTED_BUNDLE}]),
  ];
}

/** The ports on which a command listens, without that of the relay. */
export function withoutProxy(
  ports: readonly number[] | undefined,
  channel: object | undefined,
): readonly number[] | undefined {
  return channel === undefined ? ports : ports?.filter(port => port !== PROXY_PORT);
}

/** What a command left running, without the relay. */
export function withoutRelay(names: readonly string[]): readonly string[] {
  return names.filter(name => name !== RELAY_NAME);
}

export function noRelay(): Result<never> {
  return sandboxFailure({
    problem: 'The relay of the way out (tools.run.egress) did not start in the sandbox',
    remedy:
      'give commands more memory and processes (tools.run.memory_mb, tools.run.max_processes), and see that Node itself can be read by the owner of the workspace.',
  });
}

/** A socket is one of its kernel, so that no container of another machine can be given ours. */
export function engineElsewhere(): Result<never> {
  return sandboxFailure({
    problem:
      'The Docker engine runs on another machine, so its containers cannot reach the way out of this one',
    remedy: 'use bubblewrap or an engine of this machine (DOCKER_HOST), or leave tools.run.egress empty.',
  });
}
