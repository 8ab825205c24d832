import {ok, type Result} from '../../core/result.ts';
import type {Deadline} from '../deadline.ts';
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
