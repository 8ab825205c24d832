import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import type {Result} from '../core/result.ts';
import type {CapturedOutput} from './output-capture.ts';

/** Ruling W8: what a command ran in. Stamped in every result. */
export type SandboxKind = 'docker' | 'bubblewrap' | 'none';

/** Where the workspace is for a command in Docker and bubblewrap. */
export const WORKSPACE_MOUNT = '/workspace';

export interface SandboxCommand {
  /** For `sh -c`; never a login shell. */
  readonly command: string;
  /** Set for the command only; valid names, no NUL. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a command came to its end. */
export type Ending =
  | {readonly kind: 'exited'; readonly code: number}
  /** A signal that was not ours. */
  | {readonly kind: 'killed'; readonly code: number; readonly signal: string; readonly outOfMemory: boolean}
  | {readonly kind: 'timeout'}
  | {readonly kind: 'cancelled'};

export interface Execution {
  readonly sandbox: SandboxKind;
  readonly ending: Ending;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  readonly durationMs: number;
  /** Names of processes that were still there when the command had ended. They are dead now. */
  readonly leftRunning: readonly string[];
}

export interface SandboxReport {
  readonly sandbox: SandboxKind;
  /** `kernel`: counted over all processes by a control group. `process`: each process by itself. */
  readonly memoryLimit: 'kernel' | 'process' | 'none';
  /** What `doctor` shows: version, image, user. */
  readonly description: string;
}

/** The port. A failure means that nothing was run; what a command did is an `Execution`. */
export interface Sandbox {
  readonly run: (command: SandboxCommand) => Promise<Result<Execution>>;
  /** Starts and inspects the real thing; says what holds, or what is missing and the remedy. */
  readonly probe: () => Promise<Result<SandboxReport>>;
  /** Ends everything that is still there. */
  readonly close: () => Promise<void>;
}

/** What a sandbox is made for. */
export interface SandboxHost {
  /** Absolute path, without symbolic links. */
  readonly workspace: string;
  /** Absolute paths of files that commands may not change, such as the policy. */
  readonly protectedPaths: readonly string[];
  /** The environment of the host. Only what is listed is taken from it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}
