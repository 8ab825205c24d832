import {ok, type Result} from '../../core/result.ts';
import type {Deadline} from '../deadline.ts';
import {type OpenFile, readBlocks} from '../open-file.ts';
import {incompleteTail} from '../read/utf8-check.ts';

/** Bytes of a line that are shown. */
const SHOWN_BYTES = 500;
/** How much of them is before the match, where it begins further behind. */
const LEAD_BYTES = 100;
const NEWLINE = 10;
const RETURN = 13;

export interface ShownLine {
  readonly text: string;
  /** W14: it is longer than what is shown. */
  readonly cut: boolean;
}

interface Piece {
  /** Byte of the line where it begins. */
  readonly from: number;
  readonly parts: Uint8Array[];
}

/**
 * Some lines of a file, without their ends; a long one is cut around the given byte, and says so. What is not
 * UTF-8 is shown as U+FFFD. Reads up to the last of them, and keeps no more than is shown.
 */
export async function readLines(
  file: OpenFile,
  /** Number → the byte that has to be seen. */
  wanted: ReadonlyMap<number, number>,
  deadline?: Deadline,
): Promise<Result<ReadonlyMap<number, ShownLine>>> {
  const last = Math.max(...wanted.keys());
  const lines = new Map<number, ShownLine>();
  let number = 1;
  let length = 0;
  let lastByte = 0;
  let piece = begin(wanted.get(number));
  const finish = (): void => {
    if (piece !== undefined) lines.set(number, show(piece, lastByte === RETURN ? length - 1 : length));
  };
  const take = (block: Uint8Array): boolean => {
    for (let at = 0; at < block.length; ) {
      const newline = block.indexOf(NEWLINE, at);
      const end = newline === -1 ? block.length : newline;
      if (piece !== undefined) keep(piece, block.subarray(at, end), length);
      if (end > at) lastByte = block[end - 1] ?? 0;
      length += end - at;
      if (newline === -1) return true;
      finish();
      number += 1;
      if (number > last) return false;
      length = 0;
      lastByte = 0;
      piece = begin(wanted.get(number));
      at = newline + 1;
    }
    return true;
  };
  const read = await readBlocks(file, take, deadline);
  if (!read.ok) return read;
  // The last line may have no end; behind a final newline there is no line.
  if (length > 0) finish();
  return ok(lines);
}

function begin(seen: number | undefined): Piece | undefined {
  if (seen === undefined) return undefined;
  return {from: seen < SHOWN_BYTES - LEAD_BYTES ? 0 : seen - LEAD_BYTES, parts: []};
}

/** `part` begins at byte `at` of the line. */
function keep({from, parts}: Piece, part: Uint8Array, at: number): void {
  const start = Math.max(0, from - at);
  const end = Math.min(part.length, from + SHOWN_BYTES - at);
  if (start < end) parts.push(part.slice(start, end));
}

function show({from, parts}: Piece, length: number): ShownLine {
  let bytes: Uint8Array = Buffer.concat(parts);
  bytes = bytes.subarray(0, Math.max(0, length - from));
  let start = 0;
  while (from > 0 && start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const isCut = from + bytes.length < length;
  const end = isCut ? bytes.length - incompleteTail(bytes) : bytes.length;
  const before = from + start;
  const behind = length - from - end;
  const text = [
    before > 0 ? `[… ${before} bytes] ` : '',
    new TextDecoder('utf-8', {ignoreBOM: true}).decode(bytes.subarray(start, end)),
    behind > 0 ? ` [… ${behind} bytes]` : '',
  ].join('');
  return {text, cut: before > 0 || behind > 0};
}
