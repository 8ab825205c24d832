import {type Clock, timestamp} from '../../core/clock.ts';
import type {ListedUrl, NoUrl} from '../toolbox-services.ts';
import type {FailureRecord} from './batch-record.ts';
import type {BatchTally} from './batch-tally.ts';
import type {FinishedUrls, ParseListed} from './finished-urls.ts';
import {urlDigest} from './page-file-name.ts';
import type {ListedLine} from './read-listed-lines.ts';

export interface FetchableUrl extends ListedUrl {
  /** As it was listed. */
  readonly text: string;
}

interface ListDeps {
  readonly lines: AsyncIterable<ListedLine>;
  readonly parse: ParseListed;
  readonly finished: FinishedUrls;
  readonly tally: BatchTally;
  readonly clock: Clock;
}

/** What of a list is to be fetched now, and a record of each line that is no address. Counts the rest. */
export async function* listedUrls(
  deps: ListDeps,
): AsyncGenerator<FetchableUrl | {readonly record: FailureRecord}> {
  const {finished, tally, parse} = deps;
  const seen = new Set<string>();
  for await (const listed of deps.lines) {
    const {line, text = `line ${line} is too long`} = listed;
    const url = parse(text);
    const digest = urlDigest(url.ok ? url.value.canonical : text);
    if (seen.has(digest)) {
      tally.duplicates += 1;
      continue;
    }
    seen.add(digest);
    tally.listed += 1;
    if (!url.ok) yield {record: notAnAddress(line, url.error, deps.clock)};
    else if (finished.has(digest)) tally.skipped += 1;
    else yield {text, ...url.value};
  }
}

function notAnAddress(line: number, {failure, shown}: NoUrl, clock: Clock): FailureRecord {
  const {code, message, retryable, details} = failure;
  return {
    url: shown,
    status: 'failed',
    code,
    message: `Line ${line} of the list: ${message}`,
    retryable,
    details,
    attempts: 0,
    line,
    time: timestamp(clock.now()),
    duration_ms: 0,
  };
}
