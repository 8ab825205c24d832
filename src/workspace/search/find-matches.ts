// Finds matches in the text of a tree, by one or two runs of ripgrep.
import {ok, type Result} from '../../core/result.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import {type Query, queryArguments, type Ripgrep, runRipgrep} from './ripgrep.ts';
import type {TextPlace, TreeText} from './tree-text.ts';

export interface FoundLine extends TextPlace {
  /** Byte of the line where its first match begins, from 0. `offset` is where the line begins. */
  readonly column: number;
  /** Lines that it spans; 1 where there is nothing else. Then `offset` is where the match begins. */
  readonly lines?: number;
}

export interface FoundLines {
  /** The first ones, in the order of the text. */
  readonly lines: readonly FoundLine[];
  /** All lines that match. */
  readonly total: number;
  /** False where ripgrep was ended before its end: then there may be more. */
  readonly finished: boolean;
}

const NEWLINE = 10;
const NUL = 0;
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
  const found: {readonly at: number; readonly column: number}[] = [];
  const positions = new PositionReader((at, column) => found.push({at, column}));
  const blocks = text.blocks();
  try {
    let isAll = false;
    const located = await runRipgrep(ripgrep, {
      args: [...LOCATED, ...queryArguments(query, '-')],
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
    const counted = isAll ? ok({total: 0, finished: true}) : await countRest(ripgrep, query, blocks, signal);
    if (!counted.ok) return counted;
    const finished = located.value === 'complete' && counted.value.finished;
    const lines = found.flatMap(({at, column}) => {
      const place = text.placeOf(at);
      return place === undefined ? [] : [{...place, column}];
    });
    return ok({lines, total: positions.count + counted.value.total, finished});
  } finally {
    await blocks.return(undefined);
  }
}

const IN_TEXT = ['--text', '--no-heading', '--no-filename'];
/** Of the lines themselves nothing is needed, and one may be as long as the text. */
const LOCATED = [...IN_TEXT, '--column', '--byte-offset', '--max-columns=1'];

const SPANS = [...IN_TEXT, '--only-matching', '--byte-offset', '--no-line-number'];

export interface FoundByFile extends FoundLines {
  /** How many lines match in each file that has any, in the order of the text. */
  readonly files: ReadonlyMap<WorkspacePath, number>;
}

/** The same with the number of matches in each file, and at most `maxPerFile` lines of one. One run, to its end. */
export async function findMatchesByFile(
  ripgrep: Ripgrep,
  query: Query,
  text: TreeText,
  {maxLines, maxPerFile}: {readonly maxLines: number; readonly maxPerFile: number},
  signal: AbortSignal,
): Promise<Result<FoundByFile>> {
  const lines: FoundLine[] = [];
  const files = new Map<WorkspacePath, number>();
  let total = 0;
  const found = (at: number, spot: Pick<FoundLine, 'column' | 'lines'>): void => {
    total += 1;
    const place = text.placeOf(at);
    if (place === undefined) return;
    const before = files.get(place.path) ?? 0;
    files.set(place.path, before + 1);
    if (before < maxPerFile && lines.length < maxLines) lines.push({...place, ...spot});
  };
  const positions = query.multiline
    ? new SpanReader((at, spanned) => found(at, {column: 0, lines: spanned}))
    : new PositionReader((at, column) => found(at, {column}));
  const blocks = text.blocks();
  try {
    const located = await runRipgrep(ripgrep, {
      args: [...(query.multiline ? SPANS : LOCATED), ...queryArguments(query, '-')],
      stdin: blocks,
      onStdout: part => positions.read(part, Number.POSITIVE_INFINITY),
      // Nothing of it is kept.
      maxStdoutBytes: Number.POSITIVE_INFINITY,
      signal,
    });
    return located.ok ? ok({lines, files, total, finished: located.value === 'complete'}) : located;
  } finally {
    await blocks.return(undefined);
  }
}

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
): Promise<Result<Pick<FoundLines, 'total' | 'finished'>>> {
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
  return run.ok ? ok({total: Number(printed.trim()), finished: run.value === 'complete'}) : run;
}

/** Reads `line:column:offset:…` again and again; the line itself, of which something may follow, is passed over. */
class PositionReader {
  count = 0;
  readonly #onPosition: (at: number, column: number) => void;
  /** Of the line that is being read: the numbers so far, and which of them comes. */
  #numbers: [number, number, number] = [0, 0, 0];
  #index = 0;

  constructor(onPosition: (at: number, column: number) => void) {
    this.#onPosition = onPosition;
  }

  /** After `maxFound` of them, lines are counted only. */
  read(part: Uint8Array, maxFound: number): true {
    for (let at = 0; at < part.length; at += 1) {
      if (this.#index > 2 || this.count >= maxFound) {
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
    if (this.count < maxFound) this.#onPosition(at, column - 1);
    this.count += 1;
    this.#numbers = [0, 0, 0];
    this.#index = 0;
  }
}

/** Reads `offset:match` up to a NUL again and again; of the match itself, its line breaks are counted. */
class SpanReader {
  readonly #onSpan: (at: number, lines: number) => void;
  #offset = 0;
  #isInMatch = false;
  #newlines = 0;
  #endsLine = false;

  constructor(onSpan: (at: number, lines: number) => void) {
    this.#onSpan = onSpan;
  }

  read(part: Uint8Array): true {
    for (const byte of part) {
      if (byte === NUL) this.#finish();
      else if (this.#isInMatch) {
        this.#endsLine = byte === NEWLINE;
        if (this.#endsLine) this.#newlines += 1;
      } else if (byte === COLON) this.#isInMatch = true;
      else this.#offset = this.#offset * 10 + (byte - ZERO);
    }
    return true;
  }

  #finish(): void {
    // A line break at its end begins no line.
    this.#onSpan(this.#offset, Math.max(1, this.#newlines + (this.#endsLine ? 0 : 1)));
    this.#offset = 0;
    this.#isInMatch = false;
    this.#newlines = 0;
    this.#endsLine = false;
  }
}
