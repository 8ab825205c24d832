import {constants} from 'node:os';
import type {ExitStatus} from '../sandbox.ts';

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  // Where a number has two names (SIGABRT, SIGIOT), the first one is the usual one.
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

export interface Exit {
  /** Of a shell: 128 + N for signal N, or what the command gave itself. */
  readonly code: number;
  /** Ruling W20: which of the two; undefined where the shell cannot tell, and then such a code counts as a signal. */
  readonly bySignal: boolean | undefined;
  readonly outOfMemory: boolean;
}

/** Rulings W8, W20: only a death by signal is abnormal. */
export function exitStatusOf({code, bySignal, outOfMemory}: Exit): ExitStatus {
  const signal = bySignal === false ? undefined : SIGNAL_NAMES.get(code - 128);
  if (outOfMemory && code !== 0) return {kind: 'killed', code, signal: signal ?? 'SIGKILL', outOfMemory};
  return signal === undefined ? {kind: 'exited', code} : {kind: 'killed', code, signal, outOfMemory: false};
}
