import {planChunks} from '../chunk/plan-chunks.ts';
import type {ChunkPlan, TokenCounts} from '../page.ts';
import {countTokens} from '../tokens/count-tokens.ts';

export interface ChunkJob {
  readonly kind: 'chunk';
  readonly markdown: string;
  /** Of a chunk. */
  readonly maxTokens: number;
  /** What is known of the document. */
  readonly counts?: TokenCounts | undefined;
}

/** The one job of a cached page; nothing that converts documents is loaded for it. */
export function runChunkJob({markdown, maxTokens, counts}: Omit<ChunkJob, 'kind'>): ChunkPlan {
  return planChunks(markdown, {maxTokens, countTokens}, counts);
}
