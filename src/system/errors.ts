// Tells what the system refuses from bugs, and handles the refusal.
import type {ChildProcess} from 'node:child_process';

/** The code of a failed system call, such as `ENOENT`; `undefined` for anything else, which is a bug. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Does what the system may refuse; the value is `otherwise` where it does, for one of `codes` where some are given.
 * Everything else is thrown on.
 */
export function ifRefused<Value, Other = undefined>(
  work: () => Value,
  otherwise?: Other,
  ...codes: readonly string[]
): Value | Other {
  try {
    return work();
  } catch (error) {
    requireRefusal(error, codes);
    return otherwise as Other;
  }
}

/** The same for work that takes time. */
export async function ifRefusedLater<Value, Other = undefined>(
  work: () => Promise<Value>,
  otherwise?: Other,
  ...codes: readonly string[]
): Promise<Value | Other> {
  try {
    return await work();
  } catch (error) {
    requireRefusal(error, codes);
    return otherwise as Other;
  }
}

function requireRefusal(error: unknown, codes: readonly string[]): void {
  const code = errorCode(error);
  if (code === undefined || (codes.length > 0 && !codes.includes(code))) throw error;
}

/** Kills a process and the group that it leads. What has left the group dies with its parent. */
export function killGroup({pid}: ChildProcess): void {
  if (pid === undefined) return;
  // ESRCH: no process is left. EPERM: what is left belongs to another process.
  ifRefused(() => process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL'));
}

/** The code of a failed call where a bug is to be thrown on. Codes of Node's own (`ERR_FS_FILE_TOO_LARGE`) count too. */
export function expectedErrorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  throw error;
}

/** For messages: the code where there is one, else what the error says. */
export function errorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

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

/** Lets everything run that waits for the event loop, for work that would keep the thread too long otherwise. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
