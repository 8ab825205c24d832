import type {Result} from '../../core/result.ts';
import {nearestName} from '../../core/text/nearest-name.ts';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {TOOLBOX_FLAGS} from '../flags/toolbox-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {printWarnings} from '../print-warnings.ts';
import {readSettings} from '../read-settings.ts';
import {groupDigits} from '../render/group-digits.ts';
import {humanSize} from '../render/human-size.ts';
import {renderCacheEntry, renderCacheList, renderCacheStats, renderRemoval} from '../render/render-cache.ts';
import {renderFailure} from '../render/render-failure.ts';
import {printable} from '../terminal/printable.ts';
import type {PageCache} from '../toolbox-services.ts';

const FLAGS = {
  json: {type: 'boolean', help: 'Print JSON: an object, or for list and show one object on each line.'},
  yes: {type: 'boolean', short: 'y', help: 'With clear: remove every page without asking.'},
  config: TOOLBOX_FLAGS.config,
} as const;

interface CacheCall {
  readonly cache: PageCache;
  readonly json: boolean;
  readonly yes: boolean;
  readonly context: CommandContext;
}

const VERBS: Readonly<Record<string, (call: CacheCall, url: string) => Promise<ExitCode>>> = {
  stats: ({cache, ...call}) =>
    print(cache.stats(), call, (stats, {console}) => renderCacheStats(stats, console)),
  list: ({cache, ...call}) => print(cache.list(), call, renderCacheList),
  show: ({cache, ...call}, url) =>
    print(cache.show(url), call, (entries, {console}) =>
      entries.map(entry => renderCacheEntry(entry, console)).join(console.interactive ? '\n' : ''),
    ),
  prune: ({cache, ...call}) => print(cache.prune(), call, renderRemoval),
  clear,
};

export const cacheCommand: CommandDefinition = {
  usage: '(stats | list | show URL | prune | clear)',
  flags: FLAGS,
  examples: [
    'forge-tools cache stats',
    "forge-tools cache list --json | jq -r 'select(.fresh | not) | .url'",
    'forge-tools cache show https://example.com/',
    'forge-tools cache clear --yes',
  ],
  async run(argv, context: CommandContext) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    const [name = '', url, ...more] = positionals;
    const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
    if (verb === undefined) throw new UsageError(unknownVerb(name));
    if (more.length > 0 || (url === undefined) === (name === 'show')) {
      throw new UsageError(
        name === 'show' ? 'cache show takes one URL.' : `cache ${name} takes no arguments.`,
      );
    }
    if (values.yes && name !== 'clear') throw new UsageError('--yes goes with clear.');
    const {resolved} = await readSettings(values, context);
    printWarnings(resolved, context.console);
    const cache = (await context.services()).openPageCache(resolved.config);
    const call = {cache, json: values.json === true, yes: values.yes === true, context};
    const code = await verb(call, url ?? '');
    return context.signal.aborted ? EXIT.interrupted : code;
  },
};

function unknownVerb(name: string): string {
  const nearest = nearestName(name, Object.keys(VERBS));
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return `cache takes one of stats, list, show, prune and clear.${hint}`;
}

async function clear({cache, yes, ...call}: CacheCall): Promise<ExitCode> {
  const {console, signal} = call.context;
  if (!yes) {
    if (console.ask === undefined)
      throw new UsageError('There is no terminal to ask at: cache clear needs --yes.');
    const stats = await cache.stats();
    if (!stats.ok) return explain(stats, call.context);
    const {entries, bytes, directory} = stats.value;
    const what = `${groupDigits(entries)} cached pages (${humanSize(bytes)}) in ${printable(directory)}`;
    const answer = await console.ask(`Remove ${what}? [y/N] `, signal);
    if (signal.aborted) return EXIT.interrupted;
    if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) {
      console.err('Nothing was removed.\n');
      return EXIT.failed;
    }
  }
  return print(cache.clear(), call, renderRemoval);
}

/** The answer as JSON, an object a line, or as `render` has it. */
async function print<Value>(
  pending: Promise<Result<Value>>,
  {json, context}: Pick<CacheCall, 'json' | 'context'>,
  render: (value: Value, context: CommandContext) => string,
): Promise<ExitCode> {
  const result = await pending;
  if (!result.ok) return explain(result, context);
  const {value} = result;
  const lines: readonly unknown[] = Array.isArray(value) ? value : [value];
  await context.console.out(
    json ? lines.map(line => `${JSON.stringify(line)}\n`).join('') : render(value, context),
  );
  return EXIT.ok;
}

function explain<Value>(result: Extract<Result<Value>, {ok: false}>, {console}: CommandContext): ExitCode {
  console.err(renderFailure(result.error, undefined, console));
  return EXIT.failed;
}
