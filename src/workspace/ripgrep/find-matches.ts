import {ok, type Result} from '../../core/result.ts';
import {type Query, queryArguments} from './query-arguments.ts';
import {type Ripgrep, runRipgrep} from './run-ripgrep.ts';
import type {TextPlace, TreeText} from './tree-text.ts';

export interface FoundLine extends TextPlace {
  /** Byte of the line where its first match begins, from 0. `offset` is where the line begins. */
  readonly column: number;
}

export interface FoundLines {
  /** The first ones, in the order of the text. */
  readonly lines: readonly FoundLine[];
  /** All lines that match. */
  readonly total: number;
}

const NEWLINE = 10;
const COLON = 58;
const ZERO = 48;

/**
 * W4: the lines of a text that match. The text is handed over on stdin: ripgrep itself opens nothing (W1), and
 * only numbers are taken from it. One run says where the first lines are; as soon as there are enough, the
 * rest of the text goes to another that only counts, so that a million matches cost no more than one.
 */
export async function findMatches(
  ripgrep: Ripgrep,
  query: Query,
  text: TreeText,
  maxLines: number,
  signal: AbortSignal,
): Promise<Result<FoundLines>> {
  const positions = new PositionReader();
  const blocks = text.blocks();
  try {
    let isAll = false;
    const located = await runRipgrep(ripgrep, {
      // Of the lines themselves nothing is needed, and one may be as long as the text.
      args: [...IN_TEXT, '--column', '--byte-offset', '--max-columns=1', ...queryArguments(query, '-')],
      stdin: takeUntil(
        blocks,
        () => positions.count >= maxLines,
        () => {
          isAll = true;
        },
      ),
      onStdout: part => positions.read(part, maxLines),
      signal,
    });
    if (!located.ok) return located;
    text.forgetPlaces();
    const counted = isAll ? ok(0) : await countRest(ripgrep, query, blocks, signal);
    if (!counted.ok) return counted;
    const lines = positions.found.flatMap(({at, column}) => {
      const place = text.placeOf(at);
      return place === undefined ? [] : [{...place, column}];
    });
    return ok({lines, total: positions.count + counted.value});
  } finally {
    await blocks.return(undefined);
  }
}

const IN_TEXT = ['--text', '--no-heading', '--no-filename'];

/** Blocks until there are enough matches. The rest stays to be taken. */
async function* takeUntil(
  blocks: AsyncGenerator<Uint8Array>,
  isEnough: () => boolean,
  onEnd: () => void,
): AsyncGenerator<Uint8Array> {
  while (!isEnough()) {
    const next = await blocks.next();
    if (next.done === true) return onEnd();
    yield next.value;
  }
}

async function countRest(
  ripgrep: Ripgrep,
  query: Query,
  blocks: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
): Promise<Result<number>> {
  let printed = '';
  const run = await runRipgrep(ripgrep, {
    args: [...IN_TEXT, '--count', ...queryArguments(query, '-')],
    stdin: blocks,
    onStdout: part => {
      printed += Buffer.from(part).toString('latin1');
      return true;
    },
    signal,
  });
  // Nothing is printed where nothing matches.
  return run.ok ? ok(Number(printed.trim())) : run;
}

/** Reads `line:column:offset:…` again and again; the line itself, of which something may follow, is passed over. */
class PositionReader {
  count = 0;
  readonly found: {readonly at: number; readonly column: number}[] = [];
  /** Of the line that is being read: the numbers so far, and which of them comes. */
  #numbers: [number, number, number] = [0, 0, 0];
  #index = 0;

  read(part: Uint8Array, maxFound: number): true {
    for (let at = 0; at < part.length; at += 1) {
      if (this.#index > 2 || this.found.length === maxFound) {
        const end = part.indexOf(NEWLINE, at);
        if (end === -1) return true;
        at = end;
        this.#finish(maxFound);
        continue;
      }
      const byte = part[at] ?? 0;
      if (byte === COLON) this.#index += 1;
      else
        this.#numbers[this.#index as 0 | 1 | 2] =
          this.#numbers[this.#index as 0 | 1 | 2] * 10 + (byte - ZERO);
    }
    return true;
  }

  #finish(maxFound: number): void {
    const [, column, at] = this.#numbers;
    if (this.found.length < maxFound) this.found.push({at, column: column - 1});
    this.count += 1;
    this.#numbers = [0, 0, 0];
    this.#index = 0;
  }
}
