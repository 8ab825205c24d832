import type {CdpConnection} from '../cdp/cdp-connection.ts';
import type {CdpHeader, ErrorReason, PausedRequest} from '../cdp/cdp-protocol.ts';

/** What becomes of a request that Chromium waits with. */
export type Answer =
  | {readonly status: number; readonly headers: readonly CdpHeader[]; readonly body?: Uint8Array}
  | {readonly refuse: ErrorReason};

/** Chromium takes no message above 100 MiB, and base64 makes four bytes of three. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** FR-WF-BSSR-01, option A. False where Chromium no longer waits for it. */
export async function giveAnswer(
  connection: CdpConnection,
  {requestId}: PausedRequest,
  answer: Answer,
): Promise<boolean> {
  if ('refuse' in answer || (answer.body?.length ?? 0) > MAX_BODY_BYTES) {
    const errorReason = 'refuse' in answer ? answer.refuse : 'Failed';
    return (await connection.send('Fetch.failRequest', {requestId, errorReason})).ok;
  }
  const {status, headers, body} = answer;
  const given = await connection.send('Fetch.fulfillRequest', {
    requestId,
    responseCode: status,
    responseHeaders: headers,
    ...(body && body.length > 0 && {body: base64(body)}),
  });
  return given.ok;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
