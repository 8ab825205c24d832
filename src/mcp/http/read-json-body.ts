import type {IncomingMessage} from 'node:http';
import {isJsonContentType} from '@modelcontextprotocol/server';
import type {Err, Ok} from '../../core/result.ts';
import type {Refusal} from './check-request.ts';

/** A JSON body of at most `maxBytes`. What is too large is not read to its end. */
export async function readJsonBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Ok<unknown> | Err<Refusal>> {
  if (!isJsonContentType(request.headers['content-type'])) {
    return refuse(415, 'The Content-Type must be application/json.');
  }
  const tooLarge = refuse(413, `The body may have ${maxBytes} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({destroyOnReturn: false})) {
      size += (chunk as Buffer).length;
      if (size > maxBytes) return tooLarge;
      chunks.push(chunk as Buffer);
    }
    return {ok: true, value: JSON.parse(Buffer.concat(chunks).toString('utf8'))};
  } catch {
    return refuse(400, 'The body is not JSON.', -32_700);
  }
}

function refuse(status: number, message: string, code?: number): Err<Refusal> {
  return {ok: false, error: {status, message, ...(code === undefined ? {} : {code})}};
}
