import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import type {Result} from '../core/result.ts';
import type {Approver} from '../core/tool-host.ts';
import type {ConfirmationPolicy} from './approvals/confirmation-policy.ts';
import type {ApprovalRule} from './approvals/options.ts';
import type {Registry} from './registry.ts';
import type {Session} from './session.ts';

/** What every call of a run shares. */
export interface Runtime {
  readonly registry: Registry;
  readonly policy: ConfirmationPolicy;
  readonly session: Session;
  readonly clock: Clock;
  readonly log: Log;
  /** Ruling E7: `tools.output.max_bytes`. */
  readonly maxOutputBytes: number;
  /** W12: that is the default, and gives way to a limit of the tool's own. */
  readonly maxOutputBytesIsDefault?: boolean | undefined;
  /** The approver where the call brings none. */
  readonly approver?: Approver | undefined;
  /** Keeps a rule that the approver said "always" to. */
  readonly rememberRule?: ((rule: ApprovalRule) => Promise<Result<undefined>>) | undefined;
}
