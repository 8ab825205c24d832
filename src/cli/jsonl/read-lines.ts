import {ok, type Result} from '../../core/result.ts';

const NEWLINE = 0x0a;

/**
 * Lines of a byte stream without their newline, the last one with or without it. A line above
 * `maxBytes` is an error that says how long it was; no more than `maxBytes` of it are kept.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Result<Buffer, number>> {
  let pieces: Uint8Array[] = [];
  let size = 0;

  const take = (piece: Uint8Array): void => {
    size += piece.length;
    if (size <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const finish = (): Result<Buffer, number> => {
    const line: Result<Buffer, number> =
      size <= maxBytes ? ok(Buffer.concat(pieces)) : {ok: false, error: size};
    pieces = [];
    size = 0;
    return line;
  };

  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end));
      yield finish();
      start = end + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start));
  }
  if (size > 0) yield finish();
}
