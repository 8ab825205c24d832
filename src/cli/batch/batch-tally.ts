import type {Failure} from '../../core/failure/failure.ts';
import type {BatchRecord} from './batch-record.ts';

export interface SetAsideHost {
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

  add(record: BatchRecord): void {
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
