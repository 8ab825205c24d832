import {constants} from 'node:os';
import type {Ending} from './sandbox.ts';

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  // Where a number has two names (SIGABRT, SIGIOT), the first one is the usual one.
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/**
 * Ruling W8: what an exit code says. Shells, bubblewrap and Docker all report a death by signal N as
 * 128 + N, so a program that exits with such a code by itself counts as killed too.
 */
export function exitEnding(code: number, outOfMemory: boolean): Ending {
  const signal = SIGNAL_NAMES.get(code - 128);
  if (outOfMemory && code !== 0) return {kind: 'killed', code, signal: signal ?? 'SIGKILL', outOfMemory};
  return signal === undefined ? {kind: 'exited', code} : {kind: 'killed', code, signal, outOfMemory: false};
}
