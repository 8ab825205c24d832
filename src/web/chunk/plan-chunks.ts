import type {ChunkPlan, FetchChunk, PlannedChunk, TokenCounts} from '../page.ts';
import {type Block, blocksOf} from './blocks.ts';
import type {Limit} from './limit.ts';
import {splitBlock} from './split-block.ts';
import {type Counted, TokenCounter} from './token-counter.ts';

/** E2: what stands between two blocks of a chunk. */
const SEPARATOR = '\n\n';

/** FR-WF-15 but for copying text. `known` are counts of this very document. */
export function planChunks(markdown: string, limit: Limit, known?: TokenCounts): ChunkPlan {
  const document = withLineFeeds(markdown);
  const {maxTokens} = limit;
  const counter = new TokenCounter(limit, known);
  const chunks: PlannedChunk[] = [];
  let heading = '';
  let chunkHeading = '';
  let parts: number[] = [];
  /** Tokens of the open chunk, and the block it ends with. */
  let tokens = 0;
  let last: Counted | undefined;
  let lastText = '';

  const emit = (): void => {
    if (parts.length > 0) chunks.push({heading: chunkHeading, parts, tokens});
    parts = [];
    last = undefined;
  };
  const add = ({start, text}: Block, counted: Counted): void => {
    const end = start + text.length;
    if (standsBetween(document, parts.at(-1), start)) parts[parts.length - 1] = end;
    else parts.push(start, end);
    last = counted;
    lastText = text;
  };

  for (const block of blocksOf(document)) {
    const counted = counter.countBlock(block);
    const own = counted.tokens;
    // E2: the joined text is what counts; a separator may merge with the end of the block before it.
    const joined = last ? tokens + counter.behind(last, lastText, SEPARATOR) + own : Infinity;
    if (joined <= maxTokens) {
      heading = block.heading ?? heading;
      add(block, counted);
      tokens = joined;
      continue;
    }
    emit();
    // E5: the heading of the first block, if it is one; else the one in force before it.
    heading = block.heading ?? heading;
    if (own <= maxTokens) {
      chunkHeading = heading;
      add(block, counted);
      tokens = own;
    } else {
      for (const piece of splitBlock(block, limit, counter)) {
        const start = block.start + piece.start;
        chunks.push({heading, parts: [start, start + piece.text.length], tokens: piece.tokens});
      }
    }
  }
  emit();
  return {maxTokens, chunks, counts: known ?? counter.counts};
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

function standsBetween(document: string, end: number | undefined, start: number): boolean {
  return start - (end ?? start) === SEPARATOR.length && document.slice(end, start) === SEPARATOR;
}

/** A carriage return ends a line in CommonMark, and would make counts depend on what follows a cut. */
function withLineFeeds(markdown: string): string {
  return markdown.includes('\r') ? markdown.replaceAll(/\r\n?/g, '\n') : markdown;
}
