// The tool verify_quote: checks whether a page contains a quote.
import {z} from 'zod';
import {fail, ok, type Result} from '../../core/result.ts';
import {cutEnd} from '../../core/text/cut.ts';
import {defineTool, type Tool} from '../../core/tool.ts';
import type {LazyWeb} from '../../web/open-web.ts';
import type {WebFetchOptions} from '../../web/options.ts';
import type {QuoteOutcome, ReadLimits} from '../../web/read-page.ts';
import {schemaOf} from '../define-tool.ts';
import {addressIntent} from './address.ts';
import {
  documentRequest,
  maxAgeParam,
  pageUrl,
  READING_THE_WEB,
  readingTimeoutMs,
  snapshotParam,
} from './web-read.ts';

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
type VerifyQuoteParams = z.output<typeof paramsSchema>;

export const verifyQuoteSchema = schemaOf(paramsSchema as z.ZodType<VerifyQuoteParams>);

type QuotingWeb = Pick<LazyWeb, 'quote' | 'snapshotAddress'>;

/** Ruling R1: whether a page says what it is quoted for. */
export function verifyQuoteTool(web: QuotingWeb, options: WebFetchOptions, configFile?: string): Tool {
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
      return url.ok ? addressIntent(VERIFY_QUOTE, url.value, params.force_browser, options, configFile) : url;
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

const check = z.object({
  verdict: z
    .enum(['exact', 'same', 'near', 'absent'])
    .describe(
      'same: but for white space, links, quotation marks, dashes or Markdown syntax. Only exact and same are quotes.',
    ),
  start: z.int().exactOptional().describe('Position in the snapshot, in code points.'),
  end: z.int().exactOptional(),
  chunk: z.int().exactOptional().describe('Where it stands; of what is absent, the nearest passage.'),
  section: z.object({number: z.int(), heading: z.string()}).exactOptional(),
  share: z.number().exactOptional().describe('How much of a near quote the longest run of its words is.'),
  text: z.string().exactOptional().describe('That run, as the page has it. Untrusted.'),
  within: z
    .array(z.enum(['struck', 'picture']))
    .readonly()
    .exactOptional()
    .describe('Some of it is struck out, or alternative text of a picture.'),
  link: z.string().exactOptional().describe('Opens the page at the quote.'),
});

const verifyQuoteData = z.object({
  final_url: z.string(),
  fetched_at: z.string().describe('RFC 3339 time of the original fetch.'),
  snapshot: z.string(),
  checks: z.array(check).readonly().describe('In the order of the quotes.'),
});

export type VerifyQuoteData = z.output<typeof verifyQuoteData>;

function verifyQuoteDataOf({page, checks}: QuoteOutcome): VerifyQuoteData {
  const {finalUrl, fetchedAt, snapshot} = page;
  return {
    final_url: finalUrl,
    fetched_at: fetchedAt,
    snapshot,
    checks: checks.map(found => {
      if (found.verdict === 'near' || found.verdict === 'absent') return found;
      const {fragment, ...place} = found;
      return fragment === undefined ? place : {...place, link: `${finalUrl}#${fragment}`};
    }),
  };
}

type Check = VerifyQuoteData['checks'][number];

/** Words of a near match that are shown. */
const SHOWN_UNITS = 160;

const VERDICTS: Readonly<Record<Check['verdict'], string>> = {
  exact: 'exact',
  same: 'same but for white space, links, quotation marks, dashes or Markdown',
  near: 'NOT as quoted; near',
  absent: 'NOT on the page',
};

const RESERVES = {
  struck: 'STRUCK OUT on the page',
  picture: 'alternative text of a picture',
} as const;

/** A line for each quote, numbered where there are several. */
export function renderVerifyQuote({checks}: VerifyQuoteData): string {
  return checks
    .map((check, index) => `${checks.length > 1 ? `${index + 1}. ` : ''}${renderCheck(check)}`)
    .join('\n');
}

function renderCheck(check: Check): string {
  const {verdict, share, text, start, end, link, within = []} = check;
  const found = verdict === 'near' ? ` (${Math.floor(100 * (share ?? 0))} %)` : '';
  const words = text === undefined ? [] : [JSON.stringify(cutEnd(text, SHOWN_UNITS))];
  const position = verdict === 'absent' || start === undefined ? [] : [`${start}-${end}`];
  // The address is the caller's own; what is behind it is all that is news.
  const fragment = link === undefined ? [] : [link.slice(link.indexOf('#'))];
  const reserves = within.map(one => RESERVES[one]);
  return [
    `${VERDICTS[verdict]}${found}`,
    ...reserves,
    ...words,
    ...placeOf(check),
    ...position,
    ...fragment,
  ].join(' · ');
}

function placeOf({verdict, chunk, section}: Check): readonly string[] {
  if (chunk === undefined || section === undefined) return [];
  const name = section.number === 0 ? '' : `, section ${section.number} ${JSON.stringify(section.heading)}`;
  return [`${verdict === 'absent' ? 'nearest: ' : ''}chunk ${chunk}${name}`];
}
