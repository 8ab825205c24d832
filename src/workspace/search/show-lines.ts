// Reads the lines around matches, and cuts those that are long.
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import {incompleteHead, incompleteTail} from '../../core/text/cut.ts';
import {type OpenFile, readBlocks} from '../open-file.ts';

const NEWLINE = 10;

/** The numbers (from 1) of the lines in which these bytes of a file lie. The offsets ascend. */
export async function lineNumbers(
  file: OpenFile,
  offsets: readonly number[],
  deadline: Deadline,
): Promise<Result<readonly number[]>> {
  const numbers: number[] = [];
  let position = 0;
  let newlines = 0;
  const take = (block: Uint8Array): boolean => {
    let at = 0;
    for (let offset = offsets[numbers.length]; offset !== undefined; offset = offsets[numbers.length]) {
      if (offset >= position + block.length) break;
      newlines += count(block.subarray(at, offset - position));
      at = offset - position;
      numbers.push(newlines + 1);
    }
    newlines += count(block.subarray(at));
    position += block.length;
    return numbers.length < offsets.length;
  };
  const read = await readBlocks(file, take, deadline);
  return read.ok ? ok(numbers) : read;
}

function count(bytes: Uint8Array): number {
  let newlines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) newlines += 1;
  return newlines;
}

/** Bytes of a line that are shown. */
const SHOWN_BYTES = 500;
/** How much of them is before the match, where it begins further behind. */
const LEAD_BYTES = 100;
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
  const start = from > 0 ? incompleteHead(bytes) : 0;
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
