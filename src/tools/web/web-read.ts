import type {z} from 'zod';
import {ok, type Result} from '../../core/result.ts';
import {defineTool, type Tool, type ToolAnnotations} from '../../core/tool.ts';
import type {LazyWeb} from '../../web/open-web.ts';
import type {WebFetchOptions} from '../../web/options.ts';
import type {ReadLimits} from '../../web/read-page.ts';
import {outputLimit} from '../output-limit.ts';
import {schemaOf} from '../schema.ts';
import {addressIntent} from './address-intent.ts';
import {executorTimeoutMs} from './web-fetch.ts';
import {type WebReadData, webReadData, webReadDataOf} from './web-read-data.ts';
import {readRequest, type WebReadParams, webReadParams} from './web-read-params.ts';
import {renderWebRead} from './web-read-text.ts';

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

export const webReadSchema = schemaOf(webReadParams as z.ZodType<WebReadParams>);

/** Ruling R1: a page, all of it, for what an answer needs. */
export function webReadTool(
  web: Pick<LazyWeb, 'read'>,
  options: WebFetchOptions,
  /** T1: makes what the page cannot know, so that it cannot print the end of its own text. Default: none is shown. */
  newBoundary?: () => string,
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
    intend: async ({url, force_browser}) => ok(addressIntent(WEB_READ, url, force_browser, options)),
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
