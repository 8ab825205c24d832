import {once} from 'node:events';
import type {ServerResponse} from 'node:http';
import type {Refusal} from './judge-request.ts';

/** Writes a web-standard response, at the pace of the one who reads it. */
export async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  const closed = once(outgoing, 'close').then(() => 'closed' as const);
  // The stream of a call that was cancelled may never end by itself.
  void closed.then(() => reader.cancel().catch(() => {}));
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    if (!outgoing.write(value) && (await Promise.race([once(outgoing, 'drain'), closed])) === 'closed') break;
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
