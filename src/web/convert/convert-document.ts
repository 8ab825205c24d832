import type {Budget} from '../../core/budget.ts';
import type {Result} from '../../core/result.ts';
import type {FetchParts} from '../fetch-parts.ts';
import type {RawDocument} from '../navigate/read-document.ts';
import type {ConvertedDocument} from './jobs.ts';

/** Bytes to Markdown and the plan of its chunks, for what came over HTTP and for what a browser made of it alike. */
export function convertDocument(
  raw: Omit<RawDocument, 'status'>,
  baseUrl: string,
  maxTokens: number,
  {offload, options}: FetchParts,
  budget: Budget,
): Promise<Result<ConvertedDocument>> {
  const {bytes, media, headerCharset} = raw;
  const honorBaseHref = options.extraction.honor_base_href;
  return offload.run(
    {kind: 'convert', bytes, media, headerCharset, baseUrl, honorBaseHref, maxTokens},
    budget,
  );
}
