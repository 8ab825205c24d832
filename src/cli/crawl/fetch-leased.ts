import {type Clock, timestamp} from '../../core/clock.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Result} from '../../core/result.ts';
import {LONGEST_PAUSE_MS, refusalPause} from '../batch/refusal-pause.ts';
import type {Finish, FrontierUrl, LeasedUrl, ReadPage, Taken} from '../toolbox-services.ts';
import type {CrawlRecord} from './crawl-record.ts';
import {MOST_LINE_BYTES} from './results-file.ts';

/** Leases of one address that may end without a word before it is given up: it may be what ends its workers. */
const MOST_LEASES = 10;
const FIRST_DELAY_MS = 1000;

export interface FetchLeasedDeps {
  readonly read: (url: string, signal: AbortSignal) => Promise<Result<ReadPage>>;
  /** The addresses that a page leads to, within what the job follows. */
  readonly links: (markdown: string, from: FrontierUrl, sameSite: boolean) => Promise<readonly FrontierUrl[]>;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** The right of a worker to an address. */
export interface Hold {
  /** Fires at the end of the lease, and where the worker stops. */
  readonly signal: AbortSignal;
  /** Whether it was the worker that stopped. */
  readonly isStopped: () => boolean;
  /** The time of the engine, in milliseconds since the epoch. */
  readonly engineNow: () => number;
}

/** What became of an address: what is kept of it, what the engine is told, and what it leads to. */
export interface Ended {
  readonly record: CrawlRecord | undefined;
  readonly finish: Finish;
  readonly links: readonly FrontierUrl[];
}

/**
 * Fetches one address that was taken. Nothing where the lease ended first: another worker has the address by now.
 */
export async function fetchLeased(
  leased: LeasedUrl,
  terms: Taken['terms'],
  {signal, isStopped, engineNow}: Hold,
  deps: FetchLeasedDeps,
): Promise<Ended | undefined> {
  const {clock, random} = deps;
  const {url, depth, attempt: attempts} = leased;
  const start = clock.monotonic();
  const facts = () => ({
    depth,
    time: timestamp(clock.now()),
    duration_ms: Math.round(clock.monotonic() - start),
    attempts,
  });
  const failed = ({code, message, retryable, details}: Failure): CrawlRecord => ({
    url,
    status: 'failed',
    code,
    message,
    retryable,
    details,
    ...facts(),
  });
  const giveUp = GIVEN_UP.find(({holds}) => holds(leased));
  if (giveUp !== undefined) {
    const {failure} = giveUp;
    return {record: failed(failure), finish: {leased, outcome: 'failed', code: failure.code}, links: []};
  }

  const result = await deps.read(url, signal);
  if (result.ok) {
    const {response, markdown} = result.value;
    const {final_url, title, fetched_at, chunks, notes} = response;
    const tokens = chunks.reduce((sum, chunk) => sum + chunk.token_count, 0);
    const cached = notes.includes('cache_hit');
    const head = {url, status: 'ok', final_url, ...(title !== undefined && {title})} as const;
    const record: CrawlRecord = {...head, tokens, cached, fetched_at, notes, ...facts(), markdown};
    const links = depth < terms.depth ? await deps.links(markdown, leased, terms.sameSite) : [];
    const code = tooLong(markdown) ? TOO_LONG.code : undefined;
    return code === undefined
      ? {record, finish: {leased, outcome: 'done'}, links}
      : {record: failed(TOO_LONG), finish: {leased, outcome: 'failed', code}, links};
  }
  const failure = result.error;
  const {code} = failure;
  const isCut = code === 'cancelled' && signal.aborted;
  if (isCut && !isStopped()) return undefined;
  // Without the engine nobody was asked.
  if (isCut || code === 'hub_unavailable') {
    return {record: undefined, finish: {leased, outcome: 'back'}, links: []};
  }

  const pause = refusalPause(failure, attempts, engineNow());
  const pauseMs = pause === undefined ? 0 : Math.min(pause, LONGEST_PAUSE_MS);
  const aside = pause !== undefined && pause > LONGEST_PAUSE_MS;
  // The host was not asked, so this was no try of the address.
  if (code === 'host_busy' && !aside) {
    return {record: undefined, finish: {leased, outcome: 'back', code, pauseMs}, links: []};
  }
  if (failure.retryable && !aside && attempts < terms.tries) {
    const doubled = FIRST_DELAY_MS * 2 ** (attempts - 1);
    const delayMs = Math.max(pauseMs, doubled) + random() * doubled;
    return {record: undefined, finish: {leased, outcome: 'again', code, pauseMs, delayMs}, links: []};
  }
  const outcome = aside ? 'aside' : 'failed';
  return {record: failed(failure), finish: {leased, outcome, code, pauseMs}, links: []};
}

/** JSON may double what it escapes, and more; no page that is read comes near. */
function tooLong(markdown: string): boolean {
  return markdown.length * 6 > MOST_LINE_BYTES && JSON.stringify(markdown).length * 3 > MOST_LINE_BYTES;
}

const TOO_LONG: Failure = {
  code: 'response_too_large',
  message: `The text of the page is longer than a line of results may be (${MOST_LINE_BYTES} bytes). Fetch it alone.`,
  retryable: false,
  details: {},
};

const GIVEN_UP: readonly {readonly holds: (leased: LeasedUrl) => boolean; readonly failure: Failure}[] = [
  {
    holds: ({aside}) => aside,
    failure: {
      code: 'http_4xx',
      message:
        'The host asked again and again to be left alone, so nothing more of it was fetched. Start the crawl again later.',
      retryable: true,
      details: {},
    },
  },
  {
    holds: ({attempt}) => attempt > MOST_LEASES,
    failure: {
      code: 'timeout',
      message: `${MOST_LEASES} workers took this page and none finished it within its lease. Fetch it alone, or raise --lease.`,
      retryable: true,
      details: {},
    },
  },
];
