import type {Socket} from 'node:net';
import type {Clock} from '../core/clock.ts';

/** For a client to read why it was refused. */
const LINGER_MS = 1000;
const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** Answers a request with one sentence, and nothing after it. */
export function answerAndClose(
  client: Socket,
  {status, reason}: {readonly status: number; readonly reason: string},
  clock: Clock,
): void {
  const body = Buffer.from(`${reason}\n`);
  const head = [
    `HTTP/1.1 ${status} ${PHRASES[status] ?? 'Refused'}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  client.write(`${head.join('\r\n')}\r\n\r\n`);
  client.end(body);
  // A socket that is closed with something unread in it takes the answer back.
  client.resume();
  const cancel = clock.after(LINGER_MS, () => client.destroy());
  client.once('end', () => client.destroy());
  client.once('close', cancel);
}
