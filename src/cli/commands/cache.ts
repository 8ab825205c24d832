// `cache`: shows what the page cache holds, and removes pages from it.
import {systemClock} from '../../core/clock.ts';
import type {Result} from '../../core/result.ts';
import {type Answer, type CommandContext, defineCommand, EXIT} from '../command.ts';
import {type Console, printable, styled} from '../console.ts';
import {didYouMean, UsageError} from '../flags.ts';
import {printWarnings, readSettings} from '../read-settings.ts';
import {TOOLBOX_FLAGS} from '../session-flags.ts';
import {groupDigits, humanDuration, humanSize} from '../text-layout.ts';
import type {CachedPage, CacheEntry, CacheStats, PageCache, Removal} from '../toolbox-services.ts';

const MOST_HOSTS = 10;
const VERBS = ['stats', 'list', 'show', 'prune', 'clear'];

export const cacheCommand = defineCommand({
  usage: '(stats | list | show URL | prune | clear)',
  takes: [
    ({0: verb = '', length}) => VERBS.includes(verb) && length === (verb === 'show' ? 2 : 1),
    ([verb = '']) =>
      !VERBS.includes(verb)
        ? `cache takes one of stats, list, show, prune and clear.${didYouMean(verb, VERBS)}`
        : verb === 'show'
          ? 'cache show takes one URL.'
          : `cache ${verb} takes no arguments.`,
  ],
  interruptible: true,
  flags: {
    json: {type: 'boolean', help: 'Print JSON: an object, or for list and show one object on each line.'},
    yes: {type: 'boolean', short: 'y', help: 'With clear: remove every page without asking.'},
    config: TOOLBOX_FLAGS.config,
  },
  examples: [
    'forge-tools cache stats',
    "forge-tools cache list --json | jq -r 'select(.fresh | not) | .url'",
    'forge-tools cache show https://example.com/',
    'forge-tools cache clear --yes',
  ],
  async run({values, args: [verb, url = ''], ...context}) {
    if (values.yes && verb !== 'clear') throw new UsageError('--yes goes with clear.');
    const {console} = context;
    const {resolved} = await readSettings(values, context);
    printWarnings(resolved, console);
    const cache = (await context.services()).openPageCache(resolved.config);
    switch (verb) {
      case 'stats':
        return answer(await cache.stats(), stats => renderCacheStats(stats, console));
      case 'list':
        return answer(await cache.list(), pages => renderCacheList(pages, {console}));
      case 'show':
        return answer(await cache.show(url), entries =>
          entries.map(entry => renderCacheEntry(entry, console)).join(console.interactive ? '\n' : ''),
        );
      case 'prune':
        return answer(await cache.prune(), renderRemoval);
      default:
        return (
          (values.yes ? undefined : await askToClear(cache, context)) ??
          answer(await cache.clear(), renderRemoval)
        );
    }
  },
});

function answer<Value>(result: Result<Value>, render: (value: Value) => string): Answer {
  return result.ok ? {json: result.value, text: render(result.value)} : result;
}

/** The answer where nothing is to be removed. */
async function askToClear(cache: PageCache, {console, signal}: CommandContext): Promise<Answer | undefined> {
  if (console.ask === undefined)
    throw new UsageError('There is no terminal to ask at: cache clear needs --yes.');
  const stats = await cache.stats();
  if (!stats.ok) return stats;
  const {entries, bytes, directory} = stats.value;
  const what = `${groupDigits(entries)} cached pages (${humanSize(bytes)}) in ${printable(directory)}`;
  const answered = await console.ask(`Remove ${what}? [y/N] `, signal);
  if (signal.aborted) return EXIT.interrupted;
  if (/^\s*y(?:es)?\s*$/i.test(answered ?? '')) return undefined;
  console.err('Nothing was removed.\n');
  return EXIT.failed;
}

function renderCacheStats(stats: CacheStats, console: Console): string {
  const {entries, bytes, max_entries, max_bytes, fresh, stale, unusable, oldest, newest, hosts} = stats;
  const rows: [string, string][] = [
    ['directory', oneLine(stats.directory)],
    ['pages', `${groupDigits(entries)} of at most ${groupDigits(max_entries)}`],
    ['size', `${humanSize(bytes)} of at most ${humanSize(max_bytes)}`],
    ['fresh', groupDigits(fresh)],
    ['stale', groupDigits(stale)],
    ...(unusable > 0 ? [['unusable', groupDigits(unusable)] as [string, string]] : []),
    ...(oldest === null || newest === null
      ? []
      : ([
          ['oldest', `${oldest} (${age(oldest)} ago)`],
          ['newest', `${newest} (${age(newest)} ago)`],
        ] as [string, string][])),
  ];
  const lines = rows.map(([name, value]) => `${styled(console, 'bold', name.padEnd(10))} ${value}`);
  const shown = hosts.slice(0, MOST_HOSTS);
  const width = Math.max(0, ...shown.map(host => groupDigits(host.entries).length));
  for (const [index, {host, entries: pages, bytes: size}] of shown.entries()) {
    const name = styled(console, 'bold', (index === 0 ? 'hosts' : '').padEnd(10));
    lines.push(`${name} ${groupDigits(pages).padStart(width)}  ${oneLine(host)}  ${humanSize(size)}`);
  }
  const more = hosts.length - shown.length;
  if (more > 0)
    lines.push(`${''.padEnd(10)} and ${groupDigits(more)} further ${more === 1 ? 'host' : 'hosts'}`);
  return `${lines.join('\n')}\n`;
}

/** A page a line: age, state, size, how it was rendered, address. */
function renderCacheList(pages: readonly CachedPage[], {console}: {readonly console: Console}): string {
  // In a pipe, nothing is a line for each page too.
  if (pages.length === 0 && console.interactive) return 'The page cache is empty.\n';
  const cells = pages.map(({fetched_at, fresh, bytes, rendering_method, url}) => ({
    age: age(fetched_at),
    fresh,
    size: humanSize(bytes),
    method: rendering_method,
    url: oneLine(url),
  }));
  const ageWidth = Math.max(0, ...cells.map(cell => cell.age.length));
  const sizeWidth = Math.max(0, ...cells.map(cell => cell.size.length));
  return cells
    .map(cell => {
      const state = cell.fresh ? styled(console, 'green', 'fresh') : styled(console, 'yellow', 'stale');
      const before = `${cell.age.padStart(ageWidth)}  ${state}  ${cell.size.padStart(sizeWidth)}`;
      return `${before}  ${cell.method.padEnd(7)}  ${cell.url}\n`;
    })
    .join('');
}

/** What is known of an entry and its page at a terminal; in a pipe the Markdown alone. */
function renderCacheEntry(entry: CacheEntry, console: Console): string {
  const markdown = entry.extracted.markdown.replace(/\n+$/, '');
  if (!console.interactive) return `${markdown}\n`;
  const {canonical_url, rendering_method, origin, fetched_at, expires_at, last_accessed_at, notes} = entry;
  const expired = Date.parse(expires_at) < systemClock.now();
  const rows = [
    ['fetched', `${fetched_at} (${age(fetched_at)} ago)`],
    ['expires', `${expires_at}${expired ? ' (stale: the next fetch goes to the network)' : ''}`],
    ['last used', last_accessed_at],
    ['rendered', `${rendering_method}${origin === undefined ? '' : `, ${origin}`}`],
    ...(entry.extracted.language === undefined ? [] : [['language', oneLine(entry.extracted.language)]]),
    ...(notes.length > 0 ? [['notes', notes.join(', ')]] : []),
  ];
  return [
    styled(console, 'bold', oneLine(entry.extracted.title ?? '(no title)')),
    styled(console, 'cyan', oneLine(canonical_url)),
    ...rows.map(([name = '', value = '']) => styled(console, 'dim', `${name.padEnd(10)} ${value}`)),
    '',
    printable(markdown),
    '',
  ].join('\n');
}

function renderRemoval({removed, removed_bytes, kept, kept_bytes, refused}: Removal): string {
  const reasons = [
    [removed.expired, 'expired'],
    [removed.unusable, 'unusable'],
    [removed.over_limit, 'above the limits'],
  ] as const;
  const count = removed.cleared + reasons.reduce((sum, [number]) => sum + number, 0);
  const why = reasons.flatMap(([number, name]) => (number > 0 ? `${groupDigits(number)} ${name}` : []));
  const what = `Removed ${groupDigits(count)} ${count === 1 ? 'page' : 'pages'}, ${humanSize(removed_bytes)} freed`;
  const rest = `${groupDigits(kept)} left, ${humanSize(kept_bytes)}`;
  const problem =
    refused > 0
      ? ` ${groupDigits(refused)} could not be removed: check the permissions of the directory.`
      : '';
  return `${what}${why.length > 0 ? ` (${why.join(', ')})` : ''}; ${rest}.${problem}\n`;
}

function age(time: string): string {
  return humanDuration(systemClock.now() - Date.parse(time));
}

function oneLine(text: string): string {
  return printable(text).replace(/[\n\t]+/g, ' ');
}
