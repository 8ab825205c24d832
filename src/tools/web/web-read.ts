// The tool web_read: outlines, reads or searches a page.
import {z} from 'zod';
import {ok, type Result} from '../../core/result.ts';
import {defineTool, type Tool, type ToolAnnotations} from '../../core/tool.ts';
import type {LazyWeb} from '../../web/open-web.ts';
import type {WebFetchOptions} from '../../web/options.ts';
import {type Ask, SNAPSHOT_PATTERN} from '../../web/read/reading.ts';
import type {DocumentRequest, ReadLimits, ReadRequest} from '../../web/read-page.ts';
import {outputLimit, schemaOf} from '../define-tool.ts';
import {addressIntent} from './address.ts';
import {renderWebRead, type WebReadData, webReadData, webReadDataOf} from './show-read.ts';
import {executorTimeoutMs} from './web-fetch.ts';

export const WEB_READ = 'web_read';

/** Ruling H2: what reaches the network has an effect there. */
export const READING_THE_WEB: ToolAnnotations = {
  readOnly: false,
  destructive: false,
  idempotent: true,
  openWorld: true,
};

/** The smallest `max_tokens`: a chunk always fits. */
const LEAST_TOKENS = 256;

/** The address of a page, as every tool that reads one takes it. */
export const pageUrl = z.string().refine(url => url.trim() !== '', 'must not be empty or blank');

export const snapshotParam = z.string().regex(SNAPSHOT_PATTERN, 'must be 32 lower-case hexadecimal digits');

export const maxAgeParam = z.int().min(0).optional().describe('Seconds.');

const ONE = 'take at most one of section, find and chunk';

/** Ruling R1. */
const webReadParams = z
  .strictObject({
    url: pageUrl.describe('http or https. A #fragment is a section.'),
    section: z
      .union([z.int().min(0), z.string().min(1).max(300)])
      .optional()
      .describe('Number or heading of the outline.'),
    find: z.string().min(1).max(1000).optional(),
    chunk: z.int().min(1).optional(),
    max_tokens: z.int().min(256).max(8192).default(2000),
    links: z.enum(['drop', 'keep']).default('drop'),
    snapshot: snapshotParam.optional().describe('From an earlier answer.'),
    since: snapshotParam.optional().describe('Earlier snapshot: what changed.'),
    max_age: maxAgeParam,
    no_cache: z.boolean().default(false).describe('Fetch anew.'),
    force_browser: z.boolean().default(false),
  })
  .superRefine(({section, find, chunk}, context) => {
    const given = Object.entries({section, find, chunk}).filter(([, value]) => value !== undefined);
    const [, second] = given;
    if (second) context.addIssue({code: 'custom', path: [second[0]], message: ONE});
  });

export const webReadSchema = schemaOf(webReadParams as z.ZodType<WebReadParams>);

/** Ruling R1: a page, all of it, for what an answer needs. */
export function webReadTool(
  web: Pick<LazyWeb, 'read'>,
  options: WebFetchOptions,
  /** T1: makes what the page cannot know, so that it cannot print the end of its own text. Default: none is shown. */
  newBoundary?: () => string,
  configFile?: string,
): Tool {
  return defineTool<WebReadParams, WebReadData>({
    name: WEB_READ,
    title: 'Read a web page',
    description:
      'Reads a public web page (untrusted): outline and beginning, or the part that find, section or chunk names.',
    annotations: READING_THE_WEB,
    params: webReadSchema,
    data: schemaOf(webReadData),
    badParams: 'bad_args',
    action: 'web_fetch',
    delivers: 'untrusted',
    timeoutMs: () => readingTimeoutMs(options),
    outline: ({url}) => ({subject: {kind: 'url', values: [url.trim()]}}),
    intend: async ({url, force_browser}) => addressIntent(WEB_READ, url, force_browser, options, configFile),
    execute: async (params, context) => {
      context.allowTruncation = false;
      return readFitting(web, params, outputLimit(context), context);
    },
    renderText: data => renderWebRead(data, newBoundary?.()),
  });
}

/** Ruling E7: where the bytes of an answer do not fit, fewer tokens are asked for. */
export async function readFitting(
  web: Pick<LazyWeb, 'read'>,
  params: WebReadParams,
  maxBytes: number,
  {signal, mayReach}: ReadLimits,
): Promise<Result<WebReadData>> {
  let request = readRequest(params);
  for (let maxTokens = params.max_tokens; ; maxTokens = Math.max(LEAST_TOKENS, maxTokens >> 1)) {
    const read = await web.read({...request, maxTokens}, {signal, mayReach});
    if (!read.ok) return read;
    const data = webReadDataOf(read.value);
    if (maxTokens === LEAST_TOKENS || Buffer.byteLength(JSON.stringify(data)) <= maxBytes) return ok(data);
    // What was read once is read again under its snapshot: no second request.
    request = {...request, snapshot: read.value.page.snapshot, no_cache: false};
  }
}

/** FR-WF-TIMEOUT-01: reading a document has the time of a fetch, behind it. */
export function readingTimeoutMs(options: WebFetchOptions): number {
  return executorTimeoutMs(options) + options.timeout_seconds * 1000;
}

export type WebReadArgs = z.input<typeof webReadParams>;
type WebReadParams = z.output<typeof webReadParams>;

function readRequest(params: WebReadParams): ReadRequest {
  const {max_tokens, links, since} = params;
  return {...documentRequest(params), ask: askOf(params), maxTokens: max_tokens, links, since};
}

export function documentRequest({
  url,
  snapshot,
  max_age,
  no_cache,
  force_browser,
}: Pick<WebReadParams, 'url' | 'no_cache' | 'force_browser'> & {
  readonly snapshot?: string | undefined;
  readonly max_age?: number | undefined;
}): DocumentRequest {
  return {url, snapshot, max_age, no_cache, force_browser};
}

function askOf({url, section, find, chunk}: WebReadParams): Ask {
  if (section !== undefined) return {kind: 'section', section, fragment: false};
  if (find !== undefined) return {kind: 'find', query: find};
  if (chunk !== undefined) return {kind: 'chunk', chunk};
  const fragment = fragmentOf(url);
  return fragment === '' ? {kind: 'overview'} : {kind: 'section', section: fragment, fragment: true};
}

/** Without a text directive, which is for browsers. */
function fragmentOf(url: string): string {
  const hash = url.indexOf('#');
  return hash < 0 ? '' : (url.slice(hash + 1).split(':~:', 1)[0] ?? '').trim();
}
