import {ok, type Result} from '../../core/result.ts';
import type {SandboxDriver} from '../sandbox.ts';
import {EGRESS_MOUNT, PROXY_PORT, RELAY_NODE} from './relay-script.ts';

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
