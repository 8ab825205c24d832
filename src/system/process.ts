// Identifies processes across machines and boots, and tells whether they still run.
import {readFileSync, readlinkSync} from 'node:fs';
import {hostname} from 'node:os';
import {errorCode, ifRefused} from './errors.ts';

/** Tells a process from every other one, on this machine and on those that share its files. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Linux: the boot and the start in clock ticks, as process numbers are used again; '' elsewhere. */
  readonly started: string;
  readonly host: string;
  /** Linux: the PID namespace, in which `pid` counts; '' elsewhere. */
  readonly namespace: string;
}

/** `unknown`: on another host or in another PID namespace, where a number says nothing to us. */
type Liveness = 'alive' | 'gone' | 'unknown';

/** How the system is asked. For tests that let it fail. */
export interface ProcessFacts {
  readonly readText: (path: string) => string;
  readonly readLink: (path: string) => string;
  /** Throws what `kill(pid, 0)` throws. */
  readonly signal: (pid: number) => void;
}

const SYSTEM: ProcessFacts = {
  readText: path => readFileSync(path, 'utf8'),
  readLink: path => readlinkSync(path),
  signal: pid => {
    process.kill(pid, 0);
  },
};

let known: ProcessIdentity | undefined;

/** This process. It stays the same, so it is asked for once. */
export function ownIdentity(): ProcessIdentity {
  known ??= {
    pid: process.pid,
    started: startOf(process.pid, SYSTEM) ?? '',
    host: hostname(),
    namespace: namespaceOf(SYSTEM),
  };
  return known;
}

/** Whether a process still runs. It is gone only where the system says so: any other failure means `alive`. */
export function livenessOf(process: ProcessIdentity, facts: ProcessFacts = SYSTEM): Liveness {
  const self = ownIdentity();
  if (process.host !== self.host || process.namespace !== self.namespace) return 'unknown';
  try {
    facts.signal(process.pid);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    if (code === 'ESRCH') return 'gone';
    // EPERM: it is there and belongs to another user.
  }
  const started = startOf(process.pid, facts);
  if (started === 'ended') return 'gone';
  // review B14: a full table of descriptors says nothing about the process.
  if (started === undefined || started === '' || process.started === '') return 'alive';
  return started === process.started ? 'alive' : 'gone';
}

/** `ended` for a zombie, undefined where it cannot be read. */
function startOf(pid: number, facts: ProcessFacts): string | undefined {
  return ifRefused(() => {
    const stat = facts.readText(`/proc/${pid}/stat`);
    // The name of the program comes second, in parentheses, and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // After SIGKILL the first thread is a zombie before the others have left the kernel, where a rename of theirs
    // may still take place. Field 20 counts the threads.
    if ((fields[0] === 'Z' || fields[0] === 'X') && Number(fields[17]) <= 1) return 'ended';
    return `${facts.readText('/proc/sys/kernel/random/boot_id').trim()}:${fields[19] ?? ''}`;
  });
}

function namespaceOf(facts: ProcessFacts): string {
  return ifRefused(() => facts.readLink('/proc/self/ns/pid'), '');
}

interface Referable {
  readonly ref: () => unknown;
  readonly unref: () => unknown;
}

/** A child process and its pipes. */
interface Child {
  readonly stdio: readonly unknown[];
}

/** Whether our process stays as long as the child does. */
export function holdOpen(child: Child, isHeld: boolean): void {
  const handles: readonly unknown[] = [child, ...child.stdio];
  for (const handle of handles) {
    if (!isReferable(handle)) continue;
    if (isHeld) handle.ref();
    else handle.unref();
  }
}

function isReferable(handle: unknown): handle is Referable {
  return typeof handle === 'object' && handle !== null && 'ref' in handle && 'unref' in handle;
}

/** `sh -c JOIN sh COUNT PROCS-FILE... PROGRAM ARG...`: joins control groups, then goes on. */
export const JOIN = `
count=$1; shift
while [ "$count" -gt 0 ]; do
  echo 0 >"$1" || exit 125
  shift; count=$((count - 1))
done
`;

/** Tells a kernel and its start from every other one; '' where the system does not say. */
export function bootId(): string {
  return ifRefused(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), '');
}
