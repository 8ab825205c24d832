import {systemClock} from '../../core/clock.ts';
import {type Console, styled} from '../console.ts';
import {printable} from '../terminal/printable.ts';
import type {CachedPage, CacheEntry, CacheStats, Removal} from '../toolbox-services.ts';
import {groupDigits} from './group-digits.ts';
import {humanDuration} from './human-duration.ts';
import {humanSize} from './human-size.ts';

const MOST_HOSTS = 10;

export function renderCacheStats(stats: CacheStats, console: Console): string {
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
export function renderCacheList(
  pages: readonly CachedPage[],
  {console}: {readonly console: Console},
): string {
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
export function renderCacheEntry(entry: CacheEntry, console: Console): string {
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

export function renderRemoval({removed, removed_bytes, kept, kept_bytes, refused}: Removal): string {
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
