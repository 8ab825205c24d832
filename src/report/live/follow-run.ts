import type {Clock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import {netChanges} from '../changes/net-changes.ts';
import {renderChangesLine} from '../changes/render-changes.ts';
import {embedJson, type SafeHtml} from '../markup.ts';
import {renderCallLine, renderIncidentLine} from '../render-line.ts';
import type {PageHead} from '../render-page.ts';
import {RunReader} from '../run-reader.ts';

/** How often the log is looked at. */
const INTERVAL_MS = 300;
const MOST_CHARACTERS = 24_000_000;
/** How long a run will be is not known, so a call gets so much of what is left. */
const PART = 1 / 100;

/** A line of the page's data that is new or has changed. Versions count up. */
export interface Change {
  readonly version: number;
  readonly line: SafeHtml;
}

export interface RunFollower {
  readonly head: () => PageHead;
  /** Hands on every line that changed after `version`, and then each that does. Returns how to leave. */
  readonly subscribe: (version: number, onChange: (change: Change) => void) => () => void;
  readonly close: () => void;
}

/** Reads a run again and again, and keeps the latest line of everything in it. */
export async function followRun(path: string, clock: Clock): Promise<Result<RunFollower>> {
  const reader = new RunReader(path);
  const first = await reader.readOn();
  if (!first.ok) return first;
  const latest = new Map<string, Change>();
  const subscribers = new Set<(change: Change) => void>();
  let version = 0;
  let characters = 0;
  let incidents = 0;
  let head = await reader.head([]);
  let closed = false;
  let cancel = (): void => {};

  await publishNew();
  schedule();
  return ok({
    head: () => head,
    subscribe: (from, onChange) => {
      const missed = [...latest.values()].filter(change => change.version > from);
      for (const change of missed.sort((one, other) => one.version - other.version)) onChange(change);
      subscribers.add(onChange);
      return () => subscribers.delete(onChange);
    },
    close: () => {
      closed = true;
      cancel();
    },
  });

  function schedule(): void {
    if (!closed) cancel = clock.after(INTERVAL_MS, () => void look());
  }

  async function look(): Promise<void> {
    const read = await reader.readOn();
    const problem = read.ok ? [] : [read.error.message];
    await publishNew();
    const now = await reader.head(problem);
    if (JSON.stringify(now) !== JSON.stringify(head)) {
      head = now;
      publish('head', embedJson({head}));
    }
    schedule();
  }

  async function publishNew(): Promise<void> {
    const {history} = reader;
    for (const [index, entry] of [...history.entries].entries()) {
      if (index < incidents) continue;
      incidents = index + 1;
      if (!('step' in entry)) publish(`incident ${index}`, renderIncidentLine(entry, index).line);
    }
    let isChanged = false;
    for (const step of history.takeChanged()) {
      const call = history.calls.get(step);
      if (call === undefined) continue;
      isChanged ||= call.artifacts.some(({path}) => path.endsWith('.undo.json'));
      const {line} = await renderCallLine(path, call, Math.max(0, MOST_CHARACTERS - characters) * PART);
      publish(`call ${step}`, line);
    }
    if (isChanged) publish('net', renderChangesLine(await netChanges(path, history.calls.values())));
  }

  function publish(key: string, line: SafeHtml): void {
    characters += line.length - (latest.get(key)?.line.length ?? 0);
    version += 1;
    const change = {version, line};
    latest.set(key, change);
    for (const subscriber of subscribers) subscriber(change);
  }
}
