// `fetch`: prints pages as Markdown, their outlines or their responses. With `--from` it hands a list to the
// batch.
import {toUrl} from '../../core/text/parse.ts';
import type {Failure, FetchResponse, WebFetchArgs} from '../../index.ts';
import {type CommandContext, defineCommand, EXIT, type ExitCode} from '../command.ts';
import {type Console, forTerminal, printable} from '../console.ts';
import {integerFlag, modeFlag, UsageError, type ValuesOf} from '../flags.ts';
import {renderFailure} from '../print-result.ts';
import {readSettings, type SettingFlags} from '../read-settings.ts';
import {renderCut, renderForTerminal, renderOutline, renderPlain} from '../render-page.ts';
import {TOOLBOX_FLAGS} from '../session-flags.ts';
import type {PageReader, ReadPage} from '../toolbox-services.ts';

// biome-ignore format: a flag is a line
const BATCH_FLAGS = {
  from: {type: 'string', value: 'FILE', help: 'Fetch the URLs of a list with one URL on each line; - reads standard input.'},
  out: {type: 'string', value: 'DIR', help: 'With --from: a file for each page, and manifest.jsonl. The same command goes on where it ended.'},
  concurrency: {type: 'string', value: 'N', help: 'With --from: pages at the same time, 1 to 256. Default: 16.'},
  'per-host': {type: 'string', value: 'N', help: 'With --from: pages at the same time from one host, 1 to 64. Default: 2.'},
  delay: {type: 'string', value: 'MS', help: 'With --from: least time between two requests to one host, 0 to 600000. Default: 250.'},
} as const;

// biome-ignore format: a flag is a line
const FLAGS = {
  json: {type: 'boolean', help: 'Print the exact response object, or the error envelope, one line for each URL.'},
  outline: {type: 'boolean', help: 'Print the headings with the exact tokens of their sections instead.'},
  'max-chunk-tokens': {type: 'string', value: 'N', help: 'Largest chunk, 128 to 2048 cl100k tokens.'},
  'no-cache': {type: 'boolean', help: 'Do not read the page cache (the fresh page is still written to it).'},
  'force-browser': {type: 'boolean', help: 'Render in the headless browser.'},
  mode: modeFlag('tools.webfetch.extraction.mode'),
  ...BATCH_FLAGS,
  ...TOOLBOX_FLAGS,
} as const;

type FlagValues = ValuesOf<typeof FLAGS>;

/** Pages fetched at the same time; they are printed in the order of the command line. */
const CONCURRENCY = 8;

export const fetchCommand = defineCommand({
  usage: 'URL [URL ...] | --from FILE --out DIR',
  flags: FLAGS,
  examples: [
    'forge-tools fetch https://example.com/',
    'forge-tools fetch --json --max-chunk-tokens 256 https://example.com/ | jq .chunks[0]',
    'forge-tools fetch https://example.com/a https://example.com/b > pages.md',
    'forge-tools fetch --outline https://example.com/',
    'forge-tools fetch --from urls.txt --out pages',
  ],
  async run({values, args: urls, ...context}) {
    const maxChunkTokens = integerFlag('max-chunk-tokens', values['max-chunk-tokens'], 128, 2048);
    const args = {
      ...(maxChunkTokens !== undefined && {max_chunk_tokens: maxChunkTokens}),
      ...(values['no-cache'] && {no_cache: true}),
      ...(values['force-browser'] && {force_browser: true}),
    };
    if (values.from !== undefined) return fromList(values.from, values, {urls, args}, context);
    const [stray] = Object.keys(BATCH_FLAGS).filter(name => values[name as keyof FlagValues] !== undefined);
    if (stray !== undefined) throw new UsageError(`--${stray} goes with --from.`);
    if (urls.length === 0) throw new UsageError('fetch needs at least one URL, or --from.');
    const {json = false, outline = false} = values;
    return fetchPages(urls, {args, json, outline, flags: values}, context);
  },
});

/** Defaults that no site's owner would mind. */
const BATCH_DEFAULTS = {concurrency: 16, perHost: 2, delayMs: 250};

async function fromList(
  from: string,
  values: FlagValues,
  {urls, args}: {readonly urls: readonly string[]; readonly args: Omit<WebFetchArgs, 'url'>},
  context: CommandContext,
): Promise<ExitCode> {
  if (urls.length > 0) throw new UsageError('The URLs come from the command line or from --from, not both.');
  if (values.outline) throw new UsageError('--outline is for URLs on the command line.');
  if (values.out === undefined) throw new UsageError('--from needs --out, the directory for the pages.');
  const {fetchBatch} = await import('../batch/fetch-batch.ts');
  return fetchBatch(
    {
      from,
      out: values.out,
      format: values.json ? 'json' : 'md',
      concurrency: integerFlag('concurrency', values.concurrency, 1, 256) ?? BATCH_DEFAULTS.concurrency,
      perHost: integerFlag('per-host', values['per-host'], 1, 64) ?? BATCH_DEFAULTS.perHost,
      delayMs: integerFlag('delay', values.delay, 0, 600_000) ?? BATCH_DEFAULTS.delayMs,
      args,
      settings: values,
    },
    context,
  );
}

interface PagesRequest {
  readonly args: Omit<WebFetchArgs, 'url'>;
  readonly json: boolean;
  readonly outline: boolean;
  readonly flags: SettingFlags;
}

async function fetchPages(
  urls: readonly string[],
  request: PagesRequest,
  context: CommandContext,
): Promise<ExitCode> {
  const {args, json, outline, flags} = request;
  const {console, environment, signal} = context;
  const {resolved, log} = await readSettings(flags, context);
  const {openPageReader} = await context.services();
  const reader = openPageReader(resolved, {environment, log});
  // `--json` is the answer that a model is given, which has a limit; a person gets all of the page.
  const maxBytes = json && !outline ? resolved.config.tools.output.max_bytes : undefined;
  try {
    const results = fetchInOrder(urls, url => reader.read({...args, url}, signal, maxBytes));
    let failed = false;
    let isCut = false;
    for (const [index, pending] of results.entries()) {
      const result = await pending;
      failed ||= !result.ok;
      if (!result.ok) {
        await printFailure(result.error, urls, index, json, console);
        continue;
      }
      const {response} = result.value;
      if (outline) await printOutline(result.value, reader, index, json, console);
      else {
        await printPage(result.value, urls, index, json, context);
        console.err(renderHint(response) ?? '');
      }
      isCut ||= response.truncated;
      console.err(renderCut(response) ?? '');
    }
    if (signal.aborted) return EXIT.interrupted;
    if (failed) return EXIT.failed;
    return isCut ? EXIT.cut : EXIT.ok;
  } finally {
    await reader.close();
  }
}

/** What somebody leaves out who types an address as browsers take it. */
function withScheme(written: string, code: string): string | undefined {
  if (code !== 'invalid_url' && code !== 'invalid_scheme') return undefined;
  if (!/^[\p{L}\d-]+(?:\.[\p{L}\d-]+)*(?::\d{1,5})?(?:[/?#]|$)/u.test(written)) return undefined;
  const meant = `https://${written}`;
  const url = toUrl(meant);
  return url && `${url.href} ?`;
}

type Fetched = Awaited<ReturnType<PageReader['read']>>;

function fetchInOrder(
  urls: readonly string[],
  fetchOne: (url: string) => Promise<Fetched>,
): readonly Promise<Fetched>[] {
  const pending: Promise<Fetched>[] = [];
  for (const [index, url] of urls.entries()) {
    const earlier = pending[index - CONCURRENCY];
    pending.push(earlier ? earlier.then(() => fetchOne(url)) : fetchOne(url));
  }
  return pending;
}

async function printFailure(
  failure: Failure,
  urls: readonly string[],
  index: number,
  json: boolean,
  console: Console,
): Promise<void> {
  if (json) return console.out(`${JSON.stringify(failure)}\n`);
  console.err(renderFailure(failure, urls.length > 1 ? urls[index] : undefined, console));
  const meant = console.errInteractive ? withScheme(urls[index] ?? '', failure.code) : undefined;
  if (meant !== undefined) console.err(`Did you mean ${printable(meant)}\n`);
}

async function printOutline(
  page: ReadPage,
  reader: PageReader,
  index: number,
  json: boolean,
  console: Console,
): Promise<void> {
  const outline = await reader.outline(page.markdown);
  const {requested_url, final_url, title} = page.response;
  await console.out(
    json
      ? `${JSON.stringify({requested_url, final_url, title, ...outline})}\n`
      : (index > 0 ? '\n' : '') + renderOutline(page, outline, console),
  );
}

async function printPage(
  {response, markdown}: ReadPage,
  urls: readonly string[],
  index: number,
  json: boolean,
  {console, environment, services}: CommandContext,
): Promise<void> {
  if (json) {
    await console.out(`${JSON.stringify(response)}\n`);
  } else if (console.interactive) {
    const text = renderForTerminal(response, console);
    // A page of several is one of a list, which is not read one by one.
    const isLong = urls.length === 1 && text.split('\n').length > (console.rows ?? Number.POSITIVE_INFINITY);
    if (isLong && (await (await services()).pageText(forTerminal(text), environment))) return;
    await console.out(`${index > 0 ? '\n' : ''}${text}`);
  } else {
    const source = urls.length > 1 ? `${index > 0 ? '\n---\n\n' : ''}Source: ${response.final_url}\n\n` : '';
    await console.out(source + renderPlain(markdown));
  }
}

/** For standard error: why a page without text may have none. `undefined` where there is text. */
function renderHint({final_url, chunks, rendering_method}: FetchResponse): string | undefined {
  if (chunks.length > 0) return undefined;
  return rendering_method === 'http'
    ? `${final_url} has no text. A script may make it: try --force-browser.\n`
    : `${final_url} has no text, not even after its scripts have run.\n`;
}
