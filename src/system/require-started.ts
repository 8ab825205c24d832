import type {ChildProcess} from 'node:child_process';

/**
 * Throws a system error where `spawn` could not make pipes: for want of descriptors Node returns a child without
 * any, and reports why an instant later as an `error` event that would otherwise end this process.
 */
export function requireStarted(child: ChildProcess): void {
  const pipes: unknown = child.stdio;
  if (Array.isArray(pipes)) return;
  child.on('error', () => {});
  throw Object.assign(new Error('spawn: no descriptors are left for the pipes of a program'), {
    code: 'EMFILE',
    syscall: 'spawn',
  });
}
