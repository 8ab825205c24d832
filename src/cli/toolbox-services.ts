import type {Environment} from '../config/environment.ts';
import type {ResolvedConfig} from '../config/resolve-config.ts';
import type {Json} from '../core/json.ts';
import type {Log} from '../core/log.ts';
import type {Result} from '../core/result.ts';
import type {Intent} from '../core/tool.ts';
import type {ToolHost} from '../core/tool-host.ts';

/**
 * What the commands need of the composition root, whose exports have these names and shapes. Tests
 * hand in their own.
 */
export interface ToolboxServices {
  /**
   * A toolbox with a workspace and a run. Throws `ConfigError`. The run directory is created by the
   * first call, so that looking at a configuration leaves nothing behind.
   */
  readonly openSession: (resolved: ResolvedConfig, options: SessionOptions) => Promise<OpenSession>;
  /** Checks the hash chain of a run's `events.jsonl`. */
  readonly verifyRun: (runDirectory: string) => Promise<Result<LogVerdict>>;
  /** The approvals that wait in one run, or, where none is named, in all runs of the default place. */
  readonly openApprovals: (runDirectory: string | undefined, environment: Environment) => ApprovalDesk;
  /** Reverses what one step of a run changed. */
  readonly undoStep: (request: UndoRequest) => Promise<Result<UndoneStep>>;
}

export interface SessionOptions {
  readonly environment: Environment;
  readonly log: Log;
  /** Absolute. */
  readonly workspace: string;
  /** Absolute; `undefined` for a new run in the default place. */
  readonly runDirectory: string | undefined;
  /** Added to `tools.approval.allowlist` for this process; a name that is no tool or action is a `ConfigError`. */
  readonly allow: readonly string[];
}

export interface OpenSession extends ToolHost {
  /** What would be decided about a call, and by what. Runs nothing, asks nobody. */
  readonly explainPolicy: (tool: string, params: Json) => Promise<Result<PolicyExplanation>>;
  /** What the tools need on this machine, and whether it is there. */
  readonly probe: (signal: AbortSignal) => Promise<readonly Probe[]>;
  readonly close: () => Promise<void>;
}

export interface PolicyFinding {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** The setting or rule that says so. */
  readonly by: string;
  readonly reason: string;
}

export interface PolicyExplanation {
  readonly intent: Pick<Intent, 'summary' | 'preview'>;
  /** The first that applies decides; the others would have. */
  readonly verdict: PolicyFinding & {readonly overruled: readonly PolicyFinding[]};
}

export interface Probe {
  readonly name: string;
  /** `unused`: it is missing, and this configuration does not need it. */
  readonly state: 'ok' | 'missing' | 'broken' | 'unused';
  readonly version: string | undefined;
  /** Where it is, or what is wrong with it. */
  readonly detail: string;
  /** What fails without it. */
  readonly neededFor: string;
  /** The line that installs or mends it. */
  readonly remedy: string;
}

export interface LogVerdict {
  readonly state: 'intact' | 'torn' | 'tampered';
  readonly events: number;
  readonly head: string;
  readonly tornBytes: number;
  readonly problem?: {readonly line: number; readonly reason: string};
}

export interface WaitingApproval {
  readonly id: string;
  readonly tool: string;
  readonly summary: string;
  readonly preview: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface ApprovalDesk {
  readonly list: () => Promise<Result<readonly WaitingApproval[]>>;
  readonly approve: (id: string) => Promise<Result<WaitingApproval>>;
  readonly dismiss: (id: string) => Promise<Result<WaitingApproval>>;
}

export interface UndoRequest {
  /** Absolute. */
  readonly runDirectory: string;
  /** Absolute. */
  readonly workspace: string;
  readonly step: number;
}

export interface UndoneStep {
  readonly changed_files: readonly string[];
}
