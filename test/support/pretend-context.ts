import type {LogEvent} from '../../src/core/log.ts';
import {fail, type Json, ok} from '../../src/core/result.ts';
import type {ToolContext} from '../../src/core/tool.ts';
import type {CapturedOutput} from '../../src/sandbox/output-capture.ts';
import type {RunOutcome} from '../../src/sandbox/sandbox.ts';
import {pretendDeadline} from './pretend-deadline.ts';

export interface PretendContext {
  readonly context: ToolContext;
  /** What the tool said and wrote. */
  readonly events: (readonly [event: string, payload: {readonly [field: string]: Json}])[];
  readonly logged: LogEvent[];
  readonly files: Map<string, string>;
  /** Folder and bytes of each look for room. */
  readonly trims: (readonly [folder: string, maxBytes: number])[];
}

/** A context in memory, for tools whose commands are pretended. */
export function pretendContext(more: Partial<ToolContext> = {}): PretendContext {
  const events: PretendContext['events'] = [];
  const logged: LogEvent[] = [];
  const files = new Map<string, string>();
  const trims: PretendContext['trims'] = [];
  const never = new AbortController().signal;
  const context: ToolContext = {
    requestId: 'r',
    step: 7,
    signal: never,
    deadline: pretendDeadline({}, more.signal),
    sessionSignal: never,
    isOwnStep: () => true,
    mayReach: () => ({allowed: true}),
    maxOutputBytes: 100_000,
    availableCapacityBytes: 100_000,
    allowTruncation: true,
    log: event => void logged.push(event),
    emit: async (event, payload) => void events.push([event, payload]),
    saveArtifact: async (path, content) => {
      files.set(path, Buffer.from(content).toString());
      return ok(path);
    },
    metStranger: () => {},
    pastChanges: async () => fail('io_error', 'There are none.'),
    streamArtifact: (path, maxBytes) => {
      let text: string | undefined;
      return {
        write: chunk => {
          text = ((text ?? '') + Buffer.from(chunk).toString('latin1')).slice(0, maxBytes);
          files.set(path, text);
        },
        finish: () => ok(text === undefined ? undefined : path),
      };
    },
    artifacts: {
      list: async folder =>
        ok(
          [...files.keys()]
            .filter(path => path.startsWith(`${folder}/`))
            .map(path => path.slice(folder.length + 1)),
        ),
      open: async path => {
        const text = files.get(path);
        if (text === undefined) return ok(undefined);
        const bytes = Buffer.from(text, 'latin1');
        return ok({
          bytes: bytes.length,
          blocks: async function* (from = 0) {
            for (let at = from; at < bytes.length; at += 64) yield bytes.subarray(at, at + 64);
          },
          close: async () => {},
        });
      },
      trim: async (folder, maxBytes) => {
        trims.push([folder, maxBytes]);
        return ok(undefined);
      },
    },
    progress: () => {},
    ...more,
  };
  return {context, events, logged, files, trims};
}

export function captured(text: string, more: Partial<CapturedOutput> = {}): CapturedOutput {
  const bytes = Buffer.from(text);
  return {bytes, totalBytes: bytes.length, totalLines: text.split('\n').length - 1, leftOutBytes: 0, ...more};
}

/** What a command came to that did nothing. */
export function pretendOutcome(more: Partial<RunOutcome> = {}): RunOutcome {
  return {
    sandbox: 'bubblewrap',
    exitStatus: {kind: 'exited', code: 0},
    stdout: captured(''),
    stderr: captured(''),
    durationMs: 1234.4,
    leftRunning: [],
    repositories: {paths: [], complete: true},
    gitSettings: {paths: [], complete: true},
    ...more,
  };
}
