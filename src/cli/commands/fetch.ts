import type {FetchResponse, Result, Toolbox, WebFetchArgs} from '../../index.ts';
import type {Command, CommandContext} from '../command.ts';
import {EXIT} from '../exit-codes.ts';
import {openToolbox} from '../open-toolbox.ts';
import {integerFlag, parseFlags} from '../parse-flags.ts';
import {renderFailure} from '../render-failure.ts';
import {renderForTerminal, renderPlain} from '../render-page.ts';
import {TOOLBOX_FLAGS} from '../toolbox-flags.ts';
import {UsageError} from '../usage-error.ts';

const FLAGS = {
  json: {type: 'boolean', help: 'Print the exact response object, or the error envelope; a line a URL.'},
  'max-chunk-tokens': {type: 'string', value: 'N', help: 'Largest chunk, 128 to 2048 cl100k tokens.'},
  'no-cache': {type: 'boolean', help: 'Do not read the page cache (the fresh page is still written to it).'},
  'force-browser': {type: 'boolean', help: 'Render in the headless browser.'},
  ...TOOLBOX_FLAGS,
} as const;

/** Pages fetched at the same time; they are printed in the order of the command line. */
const CONCURRENCY = 8;

export const fetchCommand: Command = {
  name: 'fetch',
  summary: 'Fetch web pages as Markdown chunks with exact token counts',
  usage: 'URL [URL ...]',
  flags: FLAGS,
  examples: [
    'forge-tools fetch https://example.com/',
    'forge-tools fetch --json --max-chunk-tokens 256 https://example.com/ | jq .chunks[0]',
    'forge-tools fetch https://example.com/a https://example.com/b > pages.md',
  ],
  async run(argv, context) {
    const {values, positionals: urls} = parseFlags(argv, FLAGS);
    if (urls.length === 0) throw new UsageError('fetch needs at least one URL.');
    const maxChunkTokens = integerFlag('max-chunk-tokens', values['max-chunk-tokens'], 128, 2048);
    const toolbox = await openToolbox(values, context, {workspace: false});
    try {
      const results = fetchInOrder(urls, toolbox, context, {
        ...(maxChunkTokens !== undefined && {max_chunk_tokens: maxChunkTokens}),
        ...(values['no-cache'] && {no_cache: true}),
        ...(values['force-browser'] && {force_browser: true}),
      });
      let failed = false;
      for (const [index, pending] of results.entries()) {
        const result = await pending;
        failed ||= !result.ok;
        await print(result, urls, index, values.json === true, context);
      }
      if (context.signal.aborted) return EXIT.interrupted;
      return failed ? EXIT.failed : EXIT.ok;
    } finally {
      await toolbox.close();
    }
  },
};

type Fetched = Result<FetchResponse>;

function fetchInOrder(
  urls: readonly string[],
  toolbox: Toolbox,
  context: CommandContext,
  args: Omit<WebFetchArgs, 'url'>,
): readonly Promise<Fetched>[] {
  const pending: Promise<Fetched>[] = [];
  for (const [index, url] of urls.entries()) {
    const earlier = pending[index - CONCURRENCY];
    const fetchOne = () => toolbox.webFetch({...args, url}, {signal: context.signal});
    pending.push(earlier ? earlier.then(fetchOne) : fetchOne());
  }
  return pending;
}

async function print(
  result: Fetched,
  urls: readonly string[],
  index: number,
  json: boolean,
  {console}: CommandContext,
): Promise<void> {
  if (json) {
    await console.out(`${JSON.stringify(result.ok ? result.value : result.error)}\n`);
  } else if (!result.ok) {
    console.err(renderFailure(result.error, urls.length > 1 ? urls[index] : undefined, console));
  } else if (console.interactive) {
    await console.out(`${index > 0 ? '\n' : ''}${renderForTerminal(result.value, console)}`);
  } else {
    const source =
      urls.length > 1 ? `${index > 0 ? '\n---\n\n' : ''}Source: ${result.value.final_url}\n\n` : '';
    await console.out(source + renderPlain(result.value));
  }
}
