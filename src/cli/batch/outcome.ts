// Holds what became of each address of a batch: the lines of the manifest and the counts. Resuming reads these
// lines again.
import {FAILURE_CODES} from '../../core/failure-codes.ts';
import type {Failure, Json} from '../../core/result.ts';
import {retryAfterMs} from '../../core/text/parse.ts';
import type {FetchResponse} from '../../index.ts';

interface Finished {
  /** As it was listed. */
  readonly url: string;
  /** RFC 3339 UTC. */
  readonly time: string;
  readonly duration_ms: number;
}

/** A page that was written. */
export interface PageRecord extends Finished {
  readonly status: 'ok';
  /** Relative to the output directory, with `/`. */
  readonly file: string;
  readonly final_url: string;
  readonly title?: string;
  /** cl100k tokens of the chunks together. */
  readonly tokens: number;
  /** Of the file. */
  readonly bytes: number;
  readonly cached: boolean;
  readonly fetched_at: string;
}

/** A page that could not be had. */
export interface FailureRecord extends Finished {
  readonly status: 'failed';
  readonly code: Failure['code'];
  readonly message: string;
  readonly retryable: boolean;
  readonly details: Failure['details'];
  readonly attempts: number;
  /** Where in the list it stands, if it is no address; then `url` is what may be shown of the line. */
  readonly line?: number;
}

/** The head of a failure, in both formats. */
export function failedHead(url: string, {code, message, retryable, details}: Failure) {
  return {url, status: 'failed', code, message, retryable, details} as const;
}

/** cl100k tokens of the chunks together. */
export function tokensOf({chunks}: FetchResponse): number {
  return chunks.reduce((sum, chunk) => sum + chunk.token_count, 0);
}

/** One line of the manifest: what became of an address. The last line of an address holds. */
export type BatchRecord = PageRecord | FailureRecord;

/** What resuming needs of a line. */
export interface FinishedUrl {
  readonly url: string;
  /** The file that was written; `undefined` for a failure that another try would only repeat. */
  readonly file: string | undefined;
}

/** A failure that may end otherwise next time. */
export interface UnfinishedUrl {
  readonly url: string;
  readonly again: true;
}

/**
 * A line of a manifest. A failure is unfinished where the table says that a retry may help, and where the
 * matter was ours to settle (policy, host) and may be settled by now. `undefined` for what is no record, and
 * for a line of the list that was no address, which is looked at anew each time.
 */
export function readRecord(text: string): FinishedUrl | UnfinishedUrl | undefined {
  const {url, line, status, file, code, retryable} = parseObject(text) ?? {};
  if (typeof url !== 'string' || line !== undefined) return undefined;
  if (status === 'ok') return typeof file === 'string' ? {url, file} : undefined;
  if (status !== 'failed') return undefined;
  const known = Object.entries(FAILURE_CODES).find(([name]) => name === code)?.[1];
  const final = retryable === false && (known?.blame === 'remote' || known?.blame === 'caller');
  return final ? {url, file: undefined} : {url, again: true};
}

function parseObject(text: string): {readonly [field: string]: Json} | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as {readonly [field: string]: Json})
      : undefined;
  } catch {
    // Cut off by a crash, or not ours.
    return undefined;
  }
}

interface SetAsideHost {
  readonly host: string;
  /** What it asked for last. */
  readonly wait_sec: number;
}

/** How a batch stands, and at its end, how it went. */
export interface BatchSummary {
  /** Addresses of the list as far as it was read, those listed twice once. */
  readonly listed: number;
  readonly duplicates: number;
  readonly fetched: number;
  /** Of those, from the cache. */
  readonly cached: number;
  readonly failed: number;
  /** Of those, what another run tries again by itself. */
  readonly failed_retryable: number;
  /** Finished by an earlier run. */
  readonly skipped: number;
  /** Neither fetched nor failed: interrupted, or their host was set aside. */
  readonly left: number;
  /** Whether the list was read to its end; if not, more is left than `left` says. */
  readonly list_read: boolean;
  readonly errors: {readonly [code: string]: number};
  readonly set_aside: readonly SetAsideHost[];
  readonly bytes: number;
  readonly tokens: number;
  readonly duration_ms: number;
}

/** What is counted of a record. */
type Counted =
  | Pick<PageRecord, 'status' | 'cached' | 'bytes' | 'tokens'>
  | Pick<FailureRecord, 'status' | 'code' | 'retryable'>;

/** Counts what happens in a batch. */
export class BatchTally {
  listed = 0;
  duplicates = 0;
  skipped = 0;
  fetched = 0;
  failed = 0;
  listRead = false;
  readonly #errors = new Map<Failure['code'], number>();
  readonly #setAside = new Map<string, number>();
  #cached = 0;
  #retryable = 0;
  #bytes = 0;
  #tokens = 0;

  add(record: Counted): void {
    if (record.status === 'ok') {
      this.fetched += 1;
      if (record.cached) this.#cached += 1;
      this.#bytes += record.bytes;
      this.#tokens += record.tokens;
      return;
    }
    this.failed += 1;
    if (record.retryable) this.#retryable += 1;
    this.#errors.set(record.code, (this.#errors.get(record.code) ?? 0) + 1);
  }

  addSetAside(host: string, pauseMs: number): void {
    this.#setAside.set(host, Math.ceil(pauseMs / 1000));
  }

  get finished(): number {
    return this.skipped + this.fetched + this.failed;
  }

  /** The code that occurred most comes first. */
  errors(): readonly (readonly [code: string, count: number])[] {
    return [...this.#errors].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  }

  summary(durationMs: number): BatchSummary {
    return {
      listed: this.listed,
      duplicates: this.duplicates,
      fetched: this.fetched,
      cached: this.#cached,
      failed: this.failed,
      failed_retryable: this.#retryable,
      skipped: this.skipped,
      left: this.listed - this.finished,
      list_read: this.listRead,
      errors: Object.fromEntries(this.errors()),
      set_aside: [...this.#setAside].map(([host, wait_sec]) => ({host, wait_sec})),
      bytes: this.#bytes,
      tokens: this.#tokens,
      duration_ms: Math.round(durationMs),
    };
  }
}

/** A server that asks for more is left for another run. */
export const LONGEST_PAUSE_MS = 300_000;
/** Where the server does not say how long: doubled at each try of the same page. */
const FIRST_PAUSE_MS = 5000;
const TOO_MANY_REQUESTS = 429;
const SERVICE_UNAVAILABLE = 503;

/**
 * RFC 9110 §10.2.3, RFC 6585 §4: how long a host wants to be left alone, in milliseconds, if a failure says
 * that it does (429 and 503, also of its robots.txt, and what other replicas were told). `Retry-After` is seconds or an HTTP date; what is
 * neither is passed over. `attempt` counts from 1.
 */
export function refusalPause({code, details}: Failure, attempt: number, now: number): number | undefined {
  const {status, retry_after} = details;
  const refuses = status === TOO_MANY_REQUESTS || status === SERVICE_UNAVAILABLE || code === 'host_busy';
  if (!refuses) return undefined;
  const asked = typeof retry_after === 'string' ? retryAfterMs(retry_after.trim(), now) : undefined;
  return asked ?? FIRST_PAUSE_MS * 2 ** (attempt - 1);
}
