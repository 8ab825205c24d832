import {Budget} from '../../core/budget.ts';
import type {Clock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import type {ChunkPlan, LoadedPage} from '../page.ts';
import type {WorkerPool} from './worker-pool.ts';

export interface PlanPageDeps {
  readonly options: Pick<WebFetchOptions, 'timeout_seconds'>;
  readonly workers: WorkerPool;
  readonly clock: Clock;
}

/** FR-WF-15. Who shares a fetch may want chunks of another size, and from the cache a document comes without any. */
export async function planPage(
  {document: {markdown}, counts, plan, remainingMs}: LoadedPage,
  maxTokens: number,
  signal: AbortSignal | undefined,
  {options, workers, clock}: PlanPageDeps,
): Promise<Result<ChunkPlan>> {
  if (plan?.maxTokens === maxTokens) return ok(plan);
  const budget = new Budget(remainingMs, clock, signal, options.timeout_seconds * 1000);
  try {
    return await workers.run({kind: 'chunk', markdown, maxTokens, counts}, budget);
  } finally {
    budget.close();
  }
}
