import type {ChunkPlan, FetchChunk, PlannedChunk, TokenCounts} from '../page.ts';
import {type Block, BlockReader} from './blocks.ts';
import type {Limit} from './limit.ts';
import {splitBlock} from './split-block.ts';
import {type Counted, TokenCounter} from './token-counter.ts';

/** E2: what stands between two blocks of a chunk. */
const SEPARATOR = '\n\n';
const LINE_FEED = 0x0a;

/** FR-WF-15 but for copying text. `known` are counts of this very document. */
export function planChunks(markdown: string, limit: Limit, known?: TokenCounts): ChunkPlan {
  const planner = new ChunkPlanner(limit, known);
  planner.add(withLineFeeds(markdown));
  return planner.finish();
}

/** Plans the chunks of a document that comes in parts, so that it need not be in memory as a whole. */
export class ChunkPlanner {
  readonly #limit: Limit;
  readonly #known: TokenCounts | undefined;
  readonly #counter: TokenCounter;
  readonly #reader = new BlockReader();
  readonly #chunks: PlannedChunk[] = [];
  #heading = '';
  #chunkHeading = '';
  #parts: number[] = [];
  /** Tokens of the open chunk, and the block it ends with. */
  #tokens = 0;
  #last: Counted | undefined;
  #lastText = '';

  constructor(limit: Limit, known?: TokenCounts) {
    this.#limit = limit;
    this.#known = known;
    this.#counter = new TokenCounter(limit, known);
  }

  /** The next part; lines end in LF. */
  add(part: string): void {
    for (const block of this.#reader.read(part)) this.#addBlock(block);
  }

  finish(): ChunkPlan {
    for (const block of this.#reader.finish()) this.#addBlock(block);
    this.#emit();
    const {maxTokens} = this.#limit;
    return {maxTokens, chunks: this.#chunks, counts: this.#known ?? this.#counter.counts};
  }

  #addBlock(block: Block): void {
    const {maxTokens} = this.#limit;
    const counter = this.#counter;
    const counted = counter.countBlock(block);
    const own = counted.tokens;
    // E2: the joined text is what counts; a separator may merge with the end of the block before it.
    const joined = this.#last
      ? this.#tokens + counter.behind(this.#last, this.#lastText, SEPARATOR) + own
      : Infinity;
    if (joined <= maxTokens) {
      this.#heading = block.heading ?? this.#heading;
      this.#append(block, counted, joined);
      return;
    }
    this.#emit();
    // E5: the heading of the first block, if it is one; else the one in force before it.
    this.#heading = block.heading ?? this.#heading;
    if (own <= maxTokens) {
      this.#chunkHeading = this.#heading;
      this.#append(block, counted, own);
    } else {
      for (const piece of splitBlock(block, this.#limit, counter)) {
        const start = block.start + piece.start;
        const parts = [start, start + piece.text.length];
        this.#chunks.push({heading: this.#heading, parts, tokens: piece.tokens});
      }
    }
  }

  #append({start, text}: Block, counted: Counted, tokens: number): void {
    const parts = this.#parts;
    const end = start + text.length;
    if (this.#isSeparator(parts.at(-1), start)) parts[parts.length - 1] = end;
    else parts.push(start, end);
    this.#last = counted;
    this.#lastText = text;
    this.#tokens = tokens;
  }

  #emit(): void {
    if (this.#parts.length > 0) {
      this.#chunks.push({heading: this.#chunkHeading, parts: this.#parts, tokens: this.#tokens});
    }
    this.#parts = [];
    this.#last = undefined;
  }

  /** Whether a separator stands between the end of a block and the start of the next: a block starts behind a LF. */
  #isSeparator(end: number | undefined, start: number): boolean {
    return end !== undefined && start - end === SEPARATOR.length && this.#reader.unitAt(end) === LINE_FEED;
  }
}

/** The chunks of a plan for `markdown`. What is one part shares the memory of the document. */
export function chunksOf(markdown: string, planned: readonly PlannedChunk[]): FetchChunk[] {
  const document = withLineFeeds(markdown);
  return planned.map(({heading, parts, tokens}) => ({
    heading,
    text: textOf(document, parts),
    token_count: tokens,
  }));
}

function textOf(document: string, parts: readonly number[]): string {
  let text = document.slice(parts[0], parts[1]);
  for (let at = 2; at < parts.length; at += 2) text += SEPARATOR + document.slice(parts[at], parts[at + 1]);
  return text;
}

/** A carriage return ends a line in CommonMark, and would make counts depend on what follows a cut. */
function withLineFeeds(markdown: string): string {
  return markdown.includes('\r') ? markdown.replaceAll(/\r\n?/g, '\n') : markdown;
}
