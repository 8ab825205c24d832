import type {Failure} from '../../core/failure/failure.ts';
import {FAILURE_CODES} from '../../core/failure/failure-codes.ts';
import type {Json} from '../../core/json.ts';

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
