// The tool web_search: asks the operator's search engines, and reads the best pages in the same call.
import {z} from 'zod';
import {fail, ok, type Result} from '../../core/result.ts';
import {defineTool, type Intent, type Tool, type ToolContext} from '../../core/tool.ts';
import type {LazyWeb} from '../../web/open-web.ts';
import type {WebFetchOptions, WebSearchOptions} from '../../web/options.ts';
import {SINCE, searchAddress} from '../../web/search/engines.ts';
import type {SearchOutcome, SearchRequest} from '../../web/search/search-web.ts';
import {outputLimit, schemaOf} from '../define-tool.ts';
import {previewAddress} from './address.ts';
import {READING_THE_WEB, readingTimeoutMs} from './web-read.ts';

export const WEB_SEARCH = 'web_search';

/** The fewest tokens that a page is read with. */
const LEAST_TOKENS = 256;
const LONGEST_QUERY = 400;

const paramsSchema = z.strictObject({
  query: z
    .string()
    .max(LONGEST_QUERY)
    .refine(query => query.trim() !== '', 'must not be empty or blank'),
  max_results: z.int().min(1).max(20).default(10),
  page: z.int().min(1).max(10).default(1),
  site: z
    .string()
    .regex(/^[\w-]+(?:\.[\w-]+)*$/, 'must be a host, such as "docs.example.com"')
    .optional()
    .describe('This host only.'),
  since: z.enum(SINCE).optional(),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,2}$/, 'must be a language, such as "de"')
    .optional(),
  read: z
    .int()
    .min(0)
    .max(5)
    .default(0)
    .describe('Also read so many of the best pages: passages for the query.'),
  max_tokens: z.int().min(LEAST_TOKENS).max(8192).default(3000).describe('With read.'),
  max_age: z.int().min(0).optional().describe('Seconds.'),
});

type WebSearchParams = z.output<typeof paramsSchema>;

const dataSchema = z.object({
  results: z
    .array(
      z.object({
        title: z.string().describe('Untrusted, like snippet and passages.'),
        url: z.string(),
        site: z.string(),
        date: z.string().exactOptional().describe('YYYY-MM-DD, as the engine says.'),
        snippet: z.string(),
      }),
    )
    .readonly(),
  engines: z.array(z.string()).readonly().describe('Whose results these are.'),
  failed: z
    .array(z.object({engine: z.string(), code: z.string(), message: z.string()}))
    .readonly()
    .exactOptional()
    .describe('Engines that gave nothing.'),
  next_page: z.int().exactOptional().describe('Where there may be more.'),
  pages: z
    .array(
      z.object({
        url: z.string(),
        title: z.string().exactOptional(),
        snapshot: z.string().describe('For web_read and verify_quote.'),
        passages: z
          .array(z.object({chunk: z.int(), heading: z.string(), text: z.string(), tokens: z.int()}))
          .readonly(),
      }),
    )
    .readonly()
    .exactOptional()
    .describe('Pages that were read.'),
  not_read: z
    .array(z.object({url: z.string(), code: z.string(), message: z.string()}))
    .readonly()
    .exactOptional()
    .describe('Pages that could not be read in time, or at all.'),
});

export type WebSearchData = z.output<typeof dataSchema>;
export type WebSearchArgs = z.input<typeof paramsSchema>;

export const webSearchSchema = schemaOf(paramsSchema as z.ZodType<WebSearchParams>);

/** Offered where an engine is configured. What is searched for leaves, as an address does. */
export function webSearchTool(
  web: Pick<LazyWeb, 'search' | 'read'>,
  options: WebSearchOptions,
  webfetch: WebFetchOptions,
  /** T1: makes what no page can know. */
  newBoundary?: () => string,
): Tool {
  return defineTool<WebSearchParams, WebSearchData>({
    name: WEB_SEARCH,
    title: 'Search the web',
    description: 'Searches the web (results are untrusted), and reads the best pages too.',
    annotations: READING_THE_WEB,
    params: webSearchSchema,
    data: schemaOf(dataSchema),
    badParams: 'bad_args',
    action: 'web_fetch',
    delivers: 'untrusted',
    timeoutMs: ({read}) => searchTimeoutMs(options) + (read === 0 ? 0 : readingTimeoutMs(webfetch)),
    intend: async params => ok(searchIntent(params, options, webfetch)),
    execute: async (params, context) => {
      context.allowTruncation = false;
      return searchAndRead(web, params, outputLimit(context), context);
    },
    renderText: data => renderSearch(data, newBoundary?.()),
  });
}

/** One engine after the other, and up to five pages of one. */
function searchTimeoutMs({timeout_seconds, engines}: WebSearchOptions): number {
  return 5 * timeout_seconds * 1000 * Math.max(1, engines.length) + 2000;
}

/** The addresses by which the engines are asked: rules on hosts and the checks of addresses hold for them. */
function searchIntent(
  params: WebSearchParams,
  {engines}: WebSearchOptions,
  webfetch: WebFetchOptions,
): Intent {
  const addresses = engines.map(engine => searchAddress(engine.kind, engine, requestOf(params)));
  const names = engines.map(({kind, name}) => (name === '' ? kind : name));
  const reads = params.read === 0 ? [] : [`reads:  the best ${params.read} pages`];
  return {
    subject: {kind: 'url', values: addresses},
    summary: `${WEB_SEARCH} ${JSON.stringify(params.query)} (${names.join(', ')})`,
    preview: [
      `search: ${params.query}`,
      ...(params.site === undefined ? [] : [`site:   ${params.site}`]),
      ...reads,
      ...addresses.map(address => previewAddress(address, webfetch)),
    ].join('\n'),
    fileHashes: {},
  };
}

function requestOf({
  query,
  max_results,
  page,
  site,
  since,
  language,
  max_age,
}: WebSearchParams): SearchRequest {
  return {query: query.trim(), max_results, page, site, since, language, max_age};
}

type SearchContext = Pick<ToolContext, 'signal' | 'mayReach'>;

/** Searches, and reads pages in parallel. Where the bytes of an answer do not fit, results go from the end. */
export async function searchAndRead(
  web: Pick<LazyWeb, 'search' | 'read'>,
  params: WebSearchParams,
  maxBytes: number,
  context: SearchContext,
): Promise<Result<WebSearchData>> {
  const {signal, mayReach} = context;
  const searched = await web.search(requestOf(params), {signal, mayReach});
  if (!searched.ok) return searched;
  const read = params.read === 0 ? {} : await readBest(web, searched.value, params, context);
  const {results, engines, next_page, failed} = searched.value;
  for (let most = results.length; ; most -= 1) {
    const data: WebSearchData = {
      results: results.slice(0, most),
      engines,
      ...(failed.length > 0 && {failed}),
      ...(next_page !== undefined && {next_page}),
      ...read,
    };
    if (Buffer.byteLength(JSON.stringify(data)) <= maxBytes) return ok(data);
    if (most === 0)
      return fail('internal', 'The answer is larger than this caller takes. Ask for fewer tokens.');
  }
}

/** The passages of the best pages that say most about the query, with an equal share of the tokens each. */
async function readBest(
  web: Pick<LazyWeb, 'read'>,
  {results}: SearchOutcome,
  {read, query, max_tokens}: WebSearchParams,
  {signal, mayReach}: SearchContext,
): Promise<Pick<WebSearchData, 'pages' | 'not_read'>> {
  const best = results.slice(0, read);
  const maxTokens = Math.max(LEAST_TOKENS, Math.floor(max_tokens / Math.max(1, best.length)));
  const outcomes = await Promise.all(
    best.map(({url}) =>
      web.read(
        {
          url,
          snapshot: undefined,
          since: undefined,
          max_age: undefined,
          no_cache: false,
          force_browser: false,
          ask: {kind: 'find', query},
          maxTokens,
          links: 'drop',
        },
        {signal, mayReach},
      ),
    ),
  );
  const pages: NonNullable<WebSearchData['pages']>[number][] = [];
  const notRead: NonNullable<WebSearchData['not_read']>[number][] = [];
  outcomes.forEach((outcome, at) => {
    const url = best[at]?.url ?? '';
    if (!outcome.ok) {
      const {code, message} = outcome.error;
      notRead.push({url, code, message});
      return;
    }
    const {page, reading} = outcome.value;
    pages.push({
      url: page.finalUrl,
      ...(page.title !== undefined && {title: page.title}),
      snapshot: page.snapshot,
      passages: reading.passages.map(({chunk, section, text, tokens}) => ({
        chunk,
        heading: section.heading,
        text: text.trim(),
        tokens,
      })),
    });
  });
  return {pages, ...(notRead.length > 0 && {not_read: notRead})};
}

/** A line of title, one of address, one of snippet; behind them the pages that were read. Lines of ours are in brackets. */
export function renderSearch(data: WebSearchData, boundary?: string): string {
  const {results, pages = [], not_read = [], failed = [], next_page} = data;
  const wasRead = new Set(pages.map(({url}) => url));
  const found = results.map(({title, url, date, snippet}, at) =>
    [
      `${at + 1}. ${title}${date === undefined ? '' : ` · ${date}`}`,
      url,
      // What was read says it better.
      ...(snippet === '' || wasRead.has(url) ? [] : [snippet]),
    ].join('\n   '),
  );
  const ends = boundary === undefined ? [] : [`ends with ${boundary}`];
  const more = next_page === undefined ? [] : [`next: page ${next_page}`];
  const count = results.length === 1 ? '1 result' : `${results.length || 'no'} results`;
  const head = [count, ...more, ...ends];
  return [
    `[${head.join(' · ')}]`,
    ...(found.length > 0 ? [found.join('\n')] : []),
    ...failed.map(({engine, message}) => `[${engine} gave nothing: ${message}]`),
    ...pages.map(({url, snapshot, passages}) =>
      [
        `[read ${url} · snapshot ${snapshot}${passages.length === 0 ? ' · nothing found' : ''}]`,
        ...passages.map(({chunk, heading, text}) => {
          const name = heading === '' ? '' : `, section ${JSON.stringify(heading)}`;
          return `[chunk ${chunk}${name}]\n${text}`;
        }),
      ].join('\n\n'),
    ),
    ...not_read.map(({url, code}) => `[not read: ${url} (${code})]`),
    ...(boundary === undefined ? [] : [`[end ${boundary}]`]),
  ].join('\n\n');
}
