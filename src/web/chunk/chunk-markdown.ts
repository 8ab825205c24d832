import type {FetchChunk} from '../page.ts';
import {chunksOf, planChunks} from './plan-chunks.ts';

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
