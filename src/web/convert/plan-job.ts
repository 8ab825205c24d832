import {ChunkPlanner, planChunks} from '../chunk/plan-chunks.ts';
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

/** Plans the chunks of a document that comes in parts, whose lines end in LF. */
export function chunkPlanner(maxTokens: number): ChunkPlanner {
  return new ChunkPlanner({maxTokens, countTokens});
}

/** The one job of a cached page; nothing that converts documents is loaded for it. */
export function runChunkJob({markdown, maxTokens, counts}: Omit<ChunkJob, 'kind'>): ChunkPlan {
  return planChunks(markdown, {maxTokens, countTokens}, counts);
}
