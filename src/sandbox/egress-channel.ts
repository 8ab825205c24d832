// The channel of one sandbox to the network gate, and a probe of it.
import type {EgressChannel, EgressVisitor} from '../core/egress-gate.ts';
import {ok, type Result} from '../core/result.ts';
import {
  EGRESS_MOUNT,
  PROXY_PORT,
  RELAY_NAME,
  RELAY_NODE,
  RELAY_SOCKET,
  TRUSTED_BUNDLE,
} from './egress-relay.ts';
import type {SandboxDriver} from './sandbox.ts';
import {sandboxFailure} from './sandbox-failure.ts';

/** For a command whose caller does not ask what it connects to. */
export const NO_ANSWER_YET: EgressVisitor = {onConnection: () => {}};

/** What of the gate a sandbox sees, and where. */
export function socketMounts({
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

const TIMEOUT_MS = 20_000;

/** Asks the gate for a host that nobody may allow (RFC 2606), by the Node that is there in every sandbox. */
const ASK = `
const socket = require("node:net").connect(${PROXY_PORT}, "127.0.0.1");
socket.on("error", error => console.log(error.code)).pipe(process.stdout);
socket.end("CONNECT forge-tools.invalid:443 HTTP/1.1\\r\\n\\r\\n");
`;
const COMMAND = `
set -- ${RELAY_NODE}
[ ! -e ${EGRESS_MOUNT}/loader ] || set -- ${EGRESS_MOUNT}/loader --library-path ${EGRESS_MOUNT}/lib "$@"
exec "$@" -e '${ASK}'
`;

/** Whether what a command says to its proxy arrives at the gate, and what the gate says at the command. */
export async function probeRelay(sandbox: SandboxDriver, signal: AbortSignal): Promise<Result<boolean>> {
  const ran = await sandbox.run({command: COMMAND, env: {}, timeoutMs: TIMEOUT_MS, signal});
  return ran.ok ? ok(Buffer.from(ran.value.stdout.bytes).toString().startsWith('HTTP/1.1 403 ')) : ran;
}
