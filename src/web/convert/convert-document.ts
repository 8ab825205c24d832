import type {Budget} from '../../core/budget.ts';
import type {Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import type {RawDocument} from '../page.ts';
import type {ConvertedDocument} from './jobs.ts';
import type {WorkerPool} from './worker-pool.ts';

export interface ConvertDeps {
  readonly options: Pick<WebFetchOptions, 'extraction'>;
  readonly workers: WorkerPool;
}

/** Bytes to Markdown and the plan of its chunks, for what came over HTTP and for what a browser made of it alike. */
export function convertDocument(
  raw: Omit<RawDocument, 'status'>,
  baseUrl: string,
  maxTokens: number,
  {workers, options}: ConvertDeps,
  budget: Budget,
): Promise<Result<ConvertedDocument>> {
  const {bytes, media, headerCharset} = raw;
  const {honor_base_href: honorBaseHref, mode} = options.extraction;
  return workers.run(
    {kind: 'convert', bytes, media, headerCharset, baseUrl, honorBaseHref, mode, maxTokens},
    budget,
  );
}
