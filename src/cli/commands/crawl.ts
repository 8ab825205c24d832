// `crawl`: checks the verb and its flags, and loads what runs it.
import {defineCommand} from '../command.ts';
import {CRAWL_FLAGS} from '../crawl/crawl-flags.ts';
import {didYouMean, UsageError} from '../flags.ts';

type FlagName = keyof typeof CRAWL_FLAGS;

/** What each takes beside `--job`, `--config` and `--log-level`. */
const VERBS: Readonly<Record<string, readonly FlagName[]>> = {
  start: ['sitemap', 'results', 'delay', 'per-host', 'depth', 'same-site', 'max-pending', 'lease', 'tries'],
  work: ['out', 'concurrency', 'own-hosts'],
  status: ['json'],
  pause: [],
  resume: [],
  cancel: [],
  export: ['to'],
};
const EVERYWHERE: readonly FlagName[] = ['job', 'config', 'log-level'];

export const crawlCommand = defineCommand({
  usage:
    '(start [FILE] | work --out DIR | status | pause | resume | cancel | export DIR [DIR ...]) --job NAME',
  verbs: Object.keys(VERBS),
  takes: [
    ([verb = '']) => Object.hasOwn(VERBS, verb),
    ([verb = '']) =>
      `crawl takes one of ${Object.keys(VERBS).join(', ')}.${didYouMean(verb, Object.keys(VERBS))}`,
  ],
  flags: CRAWL_FLAGS,
  examples: [
    'forge-tools crawl start urls.txt --job docs',
    'forge-tools crawl start --sitemap https://example.com/robots.txt --job docs',
    'forge-tools crawl work --job docs --out results',
    'forge-tools crawl status --job docs',
    'forge-tools crawl export results --job docs > docs.jsonl',
  ],
  async run({values, args: [verb = '', ...rest], ...context}) {
    const own = VERBS[verb] ?? [];
    const stray = (Object.keys(CRAWL_FLAGS) as FlagName[]).find(
      name => values[name] !== undefined && !own.includes(name) && !EVERYWHERE.includes(name),
    );
    if (stray !== undefined) throw new UsageError(`crawl ${verb} takes no --${stray}.`);
    if (values.job === undefined) throw new UsageError(`crawl ${verb} needs --job NAME.`);
    const {runCrawl} = await import('../crawl/run-crawl.ts');
    return runCrawl(verb, rest, {...values, job: values.job}, context);
  },
});
