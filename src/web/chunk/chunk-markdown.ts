import type {FetchChunk} from '../page.ts';
import {type Block, blocksOf} from './blocks.ts';
import {type Limit, tokensOf} from './limit.ts';
import {splitBlock} from './split-block.ts';
import {tokensAdded} from './tokens-added.ts';

/** E2: what stands between two blocks of a chunk. */
const SEPARATOR = '\n\n';

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
  const limit: Limit = {maxTokens, countTokens};
  const chunks: FetchChunk[] = [];
  let heading = '';
  let chunkHeading = '';
  let texts: string[] = [];
  /** Tokens of the open chunk, and what they are with a separator behind it. */
  let tokens = 0;
  let last = '';

  const emit = (): void => {
    if (texts.length > 0)
      chunks.push({heading: chunkHeading, text: texts.join(SEPARATOR), token_count: tokens});
    texts = [];
  };
  const open = (block: Block, blockTokens: number): void => {
    chunkHeading = heading;
    texts = [block.text];
    tokens = blockTokens;
    last = block.text;
  };

  for (const block of blocksOf(withLineFeeds(markdown))) {
    const blockTokens = tokensOf(block.text, limit);
    // E2: the joined text is what counts; a separator may merge with the end of the block before it.
    const joined =
      texts.length > 0 ? tokens + tokensAdded(last, SEPARATOR, countTokens) + blockTokens : Infinity;
    if (joined <= maxTokens) {
      heading = block.heading ?? heading;
      texts.push(block.text);
      tokens = joined;
      last = block.text;
      continue;
    }
    emit();
    // E5: the heading of the first block, if it is one; else the one in force before it.
    heading = block.heading ?? heading;
    if (blockTokens <= maxTokens) {
      open(block, blockTokens);
    } else {
      for (const piece of splitBlock(block, limit)) {
        chunks.push({heading, text: piece.text, token_count: piece.tokens});
      }
    }
  }
  emit();
  return chunks;
}

/** A carriage return ends a line in CommonMark, and would make counts depend on what follows a cut. */
function withLineFeeds(markdown: string): string {
  return markdown.includes('\r') ? markdown.replaceAll(/\r\n?/g, '\n') : markdown;
}
