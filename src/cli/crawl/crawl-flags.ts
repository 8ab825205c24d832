// The flags of `crawl`, and what each of its verbs runs with.
import type {CommandContext} from '../command.ts';
import type {Flags, ValuesOf} from '../flags.ts';
import type {Settings} from '../read-settings.ts';
import {TOOLBOX_FLAGS} from '../session-flags.ts';
import type {Frontier} from '../toolbox-services.ts';

// biome-ignore format: a flag is a line
/** Which flag goes with which verb is said in its help, and held by the command. */
export const CRAWL_FLAGS = {
  job: {type: 'string', value: 'NAME', help: 'The job: letters, digits, dots, "-" and "_". Its workers share this name.'},
  out: {type: 'string', value: 'DIR', help: 'With work: gets a file of results, a JSON line for each page.'},
  to: {type: 'string', value: 'FILE', help: 'With export: the file that is written, instead of standard output.'},
  sitemap: {type: 'string', value: 'URLS', help: "With start: sitemaps, also gzipped or indexes of others, or a site's robots.txt, whose sitemaps are read."},
  results: {type: 'string', value: 'DIRS', help: 'With start: what is in the results of this job there is not fetched again, but for failures that may pass.'},
  delay: {type: 'string', value: 'MS', help: 'With start: least time between two pages of one host, for all workers, 0 to 600000. Default: 1000.'},
  'per-host': {type: 'string', value: 'N', help: 'With start: pages of one host at the same time, for all workers, 1 to 64. Default: 1.'},
  depth: {type: 'string', value: 'N', help: 'With start: links that are followed one after another within the host of a page, 0 to 100. Default: 0.'},
  'same-site': {type: 'boolean', help: 'With start and --depth: follow links to other hosts of the same site (registered domain) too.'},
  'max-pending': {type: 'string', value: 'N', help: 'With start: pages that may wait in the engine, 200 bytes each, 1000 to 20000000. Default: 1000000.'},
  lease: {type: 'string', value: 'SECONDS', help: 'With start: how long a worker may take for a page before another one gets it, 5 to 3600. Default: 120.'},
  tries: {type: 'string', value: 'N', help: 'With start: tries of a page that may be had later, 1 to 10. Default: 3.'},
  concurrency: {type: 'string', value: 'N', help: 'With work: pages at the same time, of this worker, 1 to 256. Default: 16.'},
  'own-hosts': {type: 'string', value: 'HOSTS', help: 'With work: hosts that may be asked with your allow_private tables and credentials. Addresses of a job have neither elsewhere.'},
  json: {type: 'boolean', help: 'With status: print JSON.'},
  ...TOOLBOX_FLAGS,
} as const satisfies Flags;

/** The flags of every verb, as they were written. */
export type CrawlValues = ValuesOf<typeof CRAWL_FLAGS> & {readonly job: string};

/** What a verb that speaks with the engine runs with. */
export interface CrawlCall {
  readonly job: string;
  readonly frontier: Frontier;
  readonly settings: Settings;
  readonly context: CommandContext;
}
