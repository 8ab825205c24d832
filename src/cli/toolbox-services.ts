import type {Config} from '../config/config-schema.ts';
import type {Environment} from '../config/environment.ts';
import type {Result} from '../core/result.ts';

/**
 * What commands need beside a toolbox, exported by `create-toolbox.ts` under these names. Tests hand in
 * their own.
 */
export interface ToolboxServices {
  /** Checks the hash chain of a run's `events.jsonl`. */
  readonly verifyRun: (runDirectory: string) => Promise<Result<LogVerdict>>;
  /** The approvals that wait in one run or, where none is named, in all runs of the default place. */
  readonly openApprovals: (runDirectory: string | undefined, environment: Environment) => ApprovalDesk;
  /** Reverses what one step of a run changed. Paths are absolute. */
  readonly undoStep: (request: UndoRequest, environment: Environment) => Promise<Result<UndoneStep>>;
  /** What the tools need on this machine, and whether it is there. */
  readonly probe: (
    config: Config,
    surroundings: {readonly environment: Environment; readonly signal: AbortSignal},
  ) => Promise<readonly Probe[]>;
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
  /** Oldest first. */
  readonly list: () => Promise<Result<readonly WaitingApproval[]>>;
  readonly approve: (id: string) => Promise<Result<WaitingApproval>>;
  readonly dismiss: (id: string) => Promise<Result<WaitingApproval>>;
}

export interface UndoRequest {
  readonly runDirectory: string;
  readonly workspace: string;
  readonly step: number;
}

export interface UndoneStep {
  readonly step: number;
  /** Files that are now as they were before the step. */
  readonly restored_files: readonly string[];
}

export interface Probe {
  readonly name: string;
  /** `unused`: it is missing or broken, and this configuration does not need it. */
  readonly state: 'ok' | 'missing' | 'broken' | 'unused';
  readonly version: string | undefined;
  /** Where it is, or what is wrong with it. */
  readonly detail: string;
  /** What fails without it. */
  readonly neededFor: string;
  /** The line that installs or mends it. */
  readonly remedy: string;
}
