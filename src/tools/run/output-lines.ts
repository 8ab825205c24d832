import type {Deadline} from '../../workspace/deadline.ts';

/**
 * The lines of an output, as text and without their line breaks. Ends where time is up, which the caller sees by
 * the deadline. What is no UTF-8 becomes replacement characters.
 */
export async function* outputLines(
  blocks: AsyncIterable<Uint8Array>,
  deadline: Deadline,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // A line may be as long as the output: its parts are put together once.
  let parts: string[] = [];
  for await (const block of blocks) {
    if (deadline.spent) return;
    const [first = '', ...lines] = decoder.decode(block, {stream: true}).split('\n');
    parts.push(first);
    const last = lines.pop();
    if (last === undefined) continue;
    yield parts.join('');
    yield* lines;
    parts = [last];
  }
  parts.push(decoder.decode());
  const rest = parts.join('');
  if (rest !== '') yield rest;
}
