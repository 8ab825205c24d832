import type {ServerResponse} from 'node:http';
import type {Refusal} from './check-request.ts';

/** Writes a web-standard response, at the pace of the one who reads it, and gives up when that one has gone. */
export async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  // Review B15: who went while the call ran is told nothing, and no event will say so again.
  if (outgoing.destroyed) {
    await response.body?.cancel().catch(() => {});
    return;
  }
  // The end of the connection is what counts; how it came about says nothing more.
  outgoing.once('error', () => {});
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  const closed = new Promise<'closed'>(resolve => outgoing.once('close', () => resolve('closed')));
  // The stream of a call that was cancelled may never end by itself.
  void closed.then(() => reader.cancel().catch(() => {}));
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    if (outgoing.write(value)) continue;
    const drained = new Promise<'drained'>(resolve => outgoing.once('drain', () => resolve('drained')));
    if ((await Promise.race([drained, closed])) === 'closed') break;
  }
  outgoing.end();
}

/** Refuses a request as a JSON-RPC error and closes the connection: what follows on it was not read. */
export function sendRefusal(
  {status, message, code = -32_000, headers = {}}: Refusal,
  outgoing: ServerResponse,
): void {
  const body = JSON.stringify({jsonrpc: '2.0', error: {code, message}, id: null});
  outgoing.writeHead(status, {...headers, 'content-type': 'application/json', connection: 'close'});
  outgoing.end(body);
}
