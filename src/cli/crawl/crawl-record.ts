import type {Failure} from '../../core/failure/failure.ts';
import {readRecord} from '../batch/batch-record.ts';

interface Finished {
  /** Canonical. */
  readonly url: string;
  /** Links between it and the list. */
  readonly depth: number;
  /** RFC 3339 UTC, by the clock of the worker. */
  readonly time: string;
  readonly duration_ms: number;
  /** From 1; leases that ended count. */
  readonly attempts: number;
}

/** A page that was fetched, with its text. */
export interface CrawledPage extends Finished {
  readonly status: 'ok';
  readonly final_url: string;
  readonly title?: string;
  /** cl100k tokens of the chunks together. */
  readonly tokens: number;
  readonly cached: boolean;
  readonly fetched_at: string;
  readonly notes: readonly string[];
  readonly markdown: string;
}

/** A page that could not be had. */
export interface CrawlFailure extends Finished {
  readonly status: 'failed';
  readonly code: Failure['code'];
  readonly message: string;
  readonly retryable: boolean;
  readonly details: Failure['details'];
}

/** One line of the results of a worker: what became of an address. */
export type CrawlRecord = CrawledPage | CrawlFailure;

/** What is needed of a line that was written earlier. */
export interface WrittenRecord {
  readonly url: string;
  /** `again`: a failure that may end otherwise next time. */
  readonly outcome: 'ok' | 'failed' | 'again';
}

/** `undefined` for a line that a killed worker cut off, and for what is no record. */
export function readCrawlRecord(text: string): WrittenRecord | undefined {
  // A page of a batch names its file, and a page of a crawl holds its text.
  const start = /^\{"url":("(?:[^"\\]|\\.)*"),"status":"ok",/.exec(text.slice(0, MOST_HEAD));
  if (start?.[1] !== undefined) {
    return isWhole(text) ? {url: JSON.parse(start[1]), outcome: 'ok'} : undefined;
  }
  const record = readRecord(text);
  if (record === undefined || 'file' in record === false) {
    return record && {url: record.url, outcome: 'again'};
  }
  return {url: record.url, outcome: 'failed'};
}

/** A URL has 65,536 characters at most, and each may be escaped. */
const MOST_HEAD = 400_000;

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
