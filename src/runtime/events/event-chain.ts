import {createHash} from 'node:crypto';
import {ok, type Result} from '../../core/result.ts';
import type {RunEvent} from './run-event.ts';

/** What the first line follows. */
export const INITIAL_HASH = '0'.repeat(64);

const HASH_FIELD = Buffer.from(',"hash":"');
/** `,"hash":"` + 64 digits + `"}` */
const HASH_FIELD_BYTES = HASH_FIELD.length + 64 + 2;

export interface HashedLine {
  /** Without the newline. */
  readonly line: Buffer;
  readonly hash: string;
}

/**
 * `{"seq":…,"time":…,"event":…,"payload":…,"hash":"…"}`. The hash is over the hash of the line before
 * and the bytes of this one up to its hash: a changed, missing or moved line breaks all that follow.
 */
export function appendHash({seq, time, event, payload}: RunEvent, previous: string): HashedLine {
  const body = Buffer.from(JSON.stringify({seq, time, event, payload}).slice(0, -1));
  const hash = chainHash(previous, body);
  return {line: Buffer.concat([body, HASH_FIELD, Buffer.from(`${hash}"}`)]), hash};
}

/** Checks one line against what comes before it. The error is what is wrong with it. */
export function checkHashedLine(
  line: Buffer,
  previous: string,
  seq: number,
): Result<{readonly event: RunEvent; readonly hash: string}, string> {
  const at = line.length - HASH_FIELD_BYTES;
  if (at <= 0 || !line.subarray(at, at + HASH_FIELD.length).equals(HASH_FIELD)) return wrong('has no hash');
  const body = line.subarray(0, at);
  const hash = chainHash(previous, body);
  if (!line.subarray(at + HASH_FIELD.length).equals(Buffer.from(`${hash}"}`))) {
    return wrong('does not have the hash of its content and the line before');
  }
  const event = parse(`${body}}`);
  if (event === undefined) return wrong('is no event');
  if (event.seq !== seq) return wrong(`has the number ${event.seq} where ${seq} is due`);
  return ok({event, hash});
}

function parse(text: string): RunEvent | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is RunEvent {
  if (typeof value !== 'object' || value === null) return false;
  const {seq, time, event, payload} = value as Readonly<Partial<Record<keyof RunEvent, unknown>>>;
  return (
    Number.isSafeInteger(seq) &&
    typeof time === 'string' &&
    typeof event === 'string' &&
    typeof payload === 'object' &&
    payload !== null
  );
}

function chainHash(previous: string, body: Buffer): string {
  return createHash('sha256').update(previous).update(body).digest('hex');
}

function wrong(reason: string): Result<never, string> {
  return {ok: false, error: reason};
}
