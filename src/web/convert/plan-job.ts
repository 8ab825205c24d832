// Plans chunks. The only job of a cached page, so nothing that converts is loaded here.

import {planChunks} from '../chunk/plan-chunks.ts';
import type {ChunkPlan} from '../page.ts';
import {countTokens} from '../tokens/count-tokens.ts';

export interface ChunkJob {
  readonly kind: 'chunk';
  readonly markdown: string;
  /** Of a chunk. */
  readonly maxTokens: number;
}

/** The one job of a cached page; nothing that converts documents is loaded for it. */
export function runChunkJob({markdown, maxTokens}: Omit<ChunkJob, 'kind'>): ChunkPlan {
  return planChunks(markdown, {maxTokens, countTokens});
}
