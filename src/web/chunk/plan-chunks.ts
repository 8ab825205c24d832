// Packs the blocks of a document into chunks up to a token limit. A plan holds places in the document, so that it can
// be stored and sent without the text.

import type {ChunkPlan, FetchChunk, PlannedChunk} from '../page.ts';
import {type Block, blocksOf, withLineFeeds} from './blocks.ts';
import {countUpTo, type Limit, tokensAdded} from './limit.ts';
import {splitBlock} from './split-block.ts';

/** E2: what stands between two blocks of a chunk. */
const SEPARATOR = '\n\n';
const LINE_FEED = 0x0a;

/** All of chunking but copying text. (FR-WF-15) */
export function planChunks(markdown: string, limit: Limit): ChunkPlan {
  return new ChunkPlanner(withLineFeeds(markdown), limit).plan();
}

class ChunkPlanner {
  readonly #markdown: string;
  readonly #limit: Limit;
  readonly #chunks: PlannedChunk[] = [];
  #heading = '';
  #chunkHeading = '';
  #parts: number[] = [];
  /** Tokens of the open chunk, and the block it ends with. */
  #tokens = 0;
  #last = '';

  constructor(markdown: string, limit: Limit) {
    this.#markdown = markdown;
    this.#limit = limit;
  }

  plan(): ChunkPlan {
    for (const block of blocksOf(this.#markdown)) this.#addBlock(block);
    this.#emit();
    return {maxTokens: this.#limit.maxTokens, chunks: this.#chunks};
  }

  #addBlock(block: Block): void {
    const {maxTokens, countTokens} = this.#limit;
    const own = countUpTo(block.text, this.#limit);
    const isOpen = this.#parts.length > 0;
    // The joined text is what counts; a separator may merge with the end of the block before it. (E2)
    const joined = isOpen ? this.#tokens + tokensAdded(this.#last, SEPARATOR, countTokens) + own : Infinity;
    if (joined <= maxTokens) {
      this.#heading = block.heading ?? this.#heading;
      this.#append(block, joined);
      return;
    }
    this.#emit();
    // E5: the heading of the first block, if it is one; else the one in force before it.
    this.#heading = block.heading ?? this.#heading;
    if (own <= maxTokens) {
      this.#chunkHeading = this.#heading;
      this.#append(block, own);
    } else {
      for (const {start, text, tokens} of splitBlock(block, this.#limit)) {
        const from = block.start + start;
        this.#chunks.push({heading: this.#heading, parts: [from, from + text.length], tokens});
      }
    }
  }

  #append({start, text}: Block, tokens: number): void {
    const parts = this.#parts;
    const end = start + text.length;
    if (this.#isSeparator(parts.at(-1), start)) parts[parts.length - 1] = end;
    else parts.push(start, end);
    this.#last = text;
    this.#tokens = tokens;
  }

  #emit(): void {
    if (this.#parts.length > 0) {
      this.#chunks.push({heading: this.#chunkHeading, parts: this.#parts, tokens: this.#tokens});
    }
    this.#parts = [];
  }

  /** Whether a separator stands between the end of a block and the start of the next: a block starts behind a LF. */
  #isSeparator(end: number | undefined, start: number): boolean {
    return (
      end !== undefined && start - end === SEPARATOR.length && this.#markdown.charCodeAt(end) === LINE_FEED
    );
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

/**
 * FR-WF-15: packs a document into chunks of at most `maxTokens`, in document order. Only a line of code
 * that is larger by itself exceeds the limit (E4). `token_count` is exact for `text` (FR-WF-15d).
 *
 * `countTokens` must count as cl100k_base does; `Limit` names the property that is relied on.
 */
export function chunkMarkdown(
  markdown: string,
  maxTokens: number,
  countTokens: (text: string) => number,
): FetchChunk[] {
  return chunksOf(markdown, planChunks(markdown, {maxTokens, countTokens}).chunks);
}
