// The port of sandboxes: what runs a command, and what comes back.
import type {Clock} from '../core/clock.ts';
import type {EgressGate, EgressVisitor} from '../core/egress-gate.ts';
import type {Log} from '../core/log.ts';
import type {Result} from '../core/result.ts';
import type {FoundPaths} from './guard/repository-watch.ts';
import type {RootIdentity} from './guard/users.ts';
import type {CapturedOutput, OutputSink} from './output-capture.ts';

/** Ruling W8: what a command ran in. Stamped in every result. */
export type SandboxKind = 'docker' | 'bubblewrap' | 'none';

/** A command that has begun. */
export interface StartedCommand {
  readonly sandbox: SandboxKind;
  /** TCP ports on which it is listened in the network that it sees; `undefined` where that cannot be seen. */
  readonly listeningPorts: () => Promise<readonly number[] | undefined>;
}

export interface SandboxCommand {
  /** For `sh -c`; never a login shell. */
  readonly command: string;
  /** Set for the command only; valid names, no NUL. */
  readonly env: Readonly<Record<string, string>>;
  /** Below the workspace, `/` between names, without `..`; the root where it is absent. */
  readonly directory?: string | undefined;
  /** Get the whole of a stream, beside what an `Execution` keeps. */
  readonly spill?: {readonly [stream in 'stdout' | 'stderr']: OutputSink} | undefined;
  /** Called when it is handed over to be run; before that, a failure means that nothing was. */
  readonly onStart?: ((started: StartedCommand) => void) | undefined;
  /** Hears of its connections where there is a way out, and may be asked about hosts. */
  readonly egress?: EgressVisitor | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a command came to its end. */
export type ExitStatus =
  | {readonly kind: 'exited'; readonly code: number}
  /** Ruling W20: a signal that was not ours. */
  | {readonly kind: 'killed'; readonly code: number; readonly signal: string; readonly outOfMemory: boolean}
  | {readonly kind: 'timeout'}
  | {readonly kind: 'cancelled'};

export interface Execution {
  readonly sandbox: SandboxKind;
  readonly exitStatus: ExitStatus;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  readonly durationMs: number;
  /** Names of processes that were still there when the command had ended. They are dead now. */
  readonly leftRunning: readonly string[];
}

/** What a call is answered with: what happened inside, and what it left in the workspace. */
export interface RunOutcome extends Execution {
  /** review R7: repositories that were not there at the last look. */
  readonly repositories: FoundPaths;
  /** W11: in repositories below the root, what git executes or is configured by and that is not as it was then. */
  readonly gitSettings: FoundPaths;
}

export interface SandboxReport {
  readonly sandbox: SandboxKind;
  /** `kernel`: counted over all processes by a control group. `process`: each process by itself. */
  readonly memoryLimit: 'kernel' | 'process' | 'none';
  /** What `doctor` shows: version, image, user. */
  readonly description: string;
}

/** One way to run a command. A failure means that nothing was run; what a command did is an `Execution`. */
export interface SandboxDriver {
  readonly run: (command: SandboxCommand) => Promise<Result<Execution>>;
  /** Starts and inspects the real thing; says what holds, or what is missing and the remedy. */
  readonly probe: () => Promise<Result<SandboxReport>>;
  /** Ends everything that is still there. */
  readonly close: () => Promise<void>;
}

/** The port. */
export interface Sandbox extends SandboxDriver {
  readonly run: (command: SandboxCommand) => Promise<Result<RunOutcome>>;
}

/** What a sandbox is made for. */
export interface SandboxHost {
  /** Absolute path, without symbolic links. */
  readonly workspace: string;
  /** What lay there when the session began. Default: what lies there when the sandbox is made. */
  readonly root?: RootIdentity | undefined;
  /** Absolute paths that commands may not change, whether or not they exist: the policy, this package, Node. */
  readonly protectedPaths: readonly string[];
  /** A directory of this user's state: which sessions are open, so that the last one cleans up. */
  readonly sessions: string;
  /** The environment of the host. Only what is listed is taken from it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where helpers such as `bwrap` are looked for before `PATH`. Default: the directories of the system. */
  readonly programDirectories?: readonly string[] | undefined;
  /** The one way out (ruling X1). Default: none, and nothing of it is there. */
  readonly egress?: EgressGate | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: this one. */
  readonly machine?: {readonly platform: string; readonly arch: string} | undefined;
}
