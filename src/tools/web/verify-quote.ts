import {z} from 'zod';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {defineTool, type Tool} from '../../core/tool.ts';
import type {LazyWeb} from '../../web/open-web.ts';
import type {WebFetchOptions} from '../../web/options.ts';
import type {ReadLimits} from '../../web/read-page.ts';
import {schemaOf} from '../schema.ts';
import {addressIntent} from './address-intent.ts';
import {type VerifyQuoteData, verifyQuoteData, verifyQuoteDataOf} from './verify-quote-data.ts';
import {renderVerifyQuote} from './verify-quote-text.ts';
import {READING_THE_WEB, readingTimeoutMs} from './web-read.ts';
import {documentRequest, maxAgeParam, pageUrl, snapshotParam} from './web-read-params.ts';

export const VERIFY_QUOTE = 'verify_quote';

const quote = z.string().min(1).max(8000);

const paramsSchema = z
  .strictObject({
    url: pageUrl.optional().describe('Not needed with a snapshot.'),
    snapshot: snapshotParam.optional(),
    quote: quote.optional(),
    quotes: z.array(quote).min(1).max(20).optional(),
    max_age: maxAgeParam,
    no_cache: z.boolean().default(false),
    force_browser: z.boolean().default(false),
  })
  .superRefine(({url, snapshot, quote: one, quotes}, context) => {
    if (url === undefined && snapshot === undefined) {
      context.addIssue({code: 'custom', path: ['url'], message: 'give url or snapshot'});
    }
    if ((one === undefined) === (quotes === undefined)) {
      context.addIssue({code: 'custom', path: ['quote'], message: 'give either quote or quotes'});
    }
  });

export type VerifyQuoteArgs = z.input<typeof paramsSchema>;
export type VerifyQuoteParams = z.output<typeof paramsSchema>;

export const verifyQuoteSchema = schemaOf(paramsSchema as z.ZodType<VerifyQuoteParams>);

type QuotingWeb = Pick<LazyWeb, 'quote' | 'snapshotAddress'>;

/** Ruling R1: whether a page says what it is quoted for. */
export function verifyQuoteTool(web: QuotingWeb, options: WebFetchOptions): Tool {
  return defineTool<VerifyQuoteParams, VerifyQuoteData>({
    name: VERIFY_QUOTE,
    title: 'Verify a quote',
    description:
      'Says whether a web page has a quote word for word, where, with a link to it; else the nearest.',
    annotations: READING_THE_WEB,
    params: verifyQuoteSchema,
    data: schemaOf(verifyQuoteData),
    badParams: 'bad_args',
    action: 'web_fetch',
    delivers: 'untrusted',
    timeoutMs: () => readingTimeoutMs(options),
    intend: async params => {
      const url = await addressOf(web, params);
      return url.ok ? ok(addressIntent(VERIFY_QUOTE, url.value, params.force_browser, options)) : url;
    },
    execute: (params, {signal, mayReach}) => verifyQuotes(web, params, {signal, mayReach}),
    renderText: renderVerifyQuote,
  });
}

export async function verifyQuotes(
  web: QuotingWeb,
  params: VerifyQuoteParams,
  limits: ReadLimits,
): Promise<Result<VerifyQuoteData>> {
  const url = await addressOf(web, params);
  if (!url.ok) return url;
  const {quote: one, quotes = one === undefined ? [] : [one]} = params;
  const checked = await web.quote({...documentRequest({...params, url: url.value}), quotes}, limits);
  return checked.ok ? ok(verifyQuoteDataOf(checked.value)) : checked;
}

/** Policy and guard check the address that a snapshot was read from. */
async function addressOf(web: QuotingWeb, {url, snapshot = ''}: VerifyQuoteParams): Promise<Result<string>> {
  const address = url ?? (await web.snapshotAddress(snapshot));
  if (address !== undefined) return ok(address);
  return fail(
    'snapshot_gone',
    `Nothing was read here under snapshot ${snapshot}. Give the url of the page too: its snapshot may still be kept.`,
    {snapshot},
  );
}
