// Reads the log of a run, and reads on where it stopped.
import {basename, join} from 'node:path';
import {ok, type Result} from '../core/result.ts';
import {type LogCheck, verifyLog} from '../runtime/event-log.ts';
import {isRunInUse} from '../runtime/run-directory.ts';
import type {PageHead} from './render-page.ts';
import {RunHistory} from './run-history.ts';

export class RunReader {
  readonly path: string;
  readonly history = new RunHistory();
  #verdict: LogCheck | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** What the log said when it was read last. */
  get verdict(): LogCheck | undefined {
    return this.#verdict;
  }

  /** Takes what was appended since. After a line that does not verify, nothing more is believed. */
  async readOn(): Promise<Result<LogCheck>> {
    if (this.#verdict?.state === 'tampered') return ok(this.#verdict);
    const log = join(this.path, 'events.jsonl');
    const read = await verifyLog(log, event => this.history.add(event), this.#verdict);
    if (read.ok) this.#verdict = read.value;
    return read;
  }

  async head(notes: readonly string[]): Promise<PageHead> {
    const inUse = !this.history.ended && isRunInUse(this.path);
    const verdict = this.#verdict;
    return {
      name: basename(this.path),
      path: this.path,
      state: this.history.ended ? 'ended' : inUse ? 'running' : 'cut off',
      // While it runs, half a line is one that is being written.
      verdict: verdict === undefined ? UNREAD : describe(verdict, inUse),
      notes,
    };
  }
}

const UNREAD = {state: 'torn', text: 'The log has not been read.'} as const;

function describe({state, events, head, tornBytes, problem}: LogCheck, inUse: boolean): PageHead['verdict'] {
  const count = `${events} ${events === 1 ? 'event' : 'events'}`;
  if (state === 'tampered') {
    const {line = events + 1, reason = 'does not verify'} = problem ?? {};
    const text = `TAMPERED: line ${line} of the log ${reason}. The ${count} before it are shown, the rest is not.`;
    return {state, text};
  }
  if (state === 'torn' && !inUse) {
    return {state, text: `Log intact up to a crash: ${count}, then ${tornBytes} bytes of half a line.`};
  }
  return {state: 'intact', text: `Log intact: ${count}, head ${head.slice(0, 16)}…`};
}
