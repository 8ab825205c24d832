// What all calls of one run share.
import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import type {Result} from '../core/result.ts';
import type {ApprovalRule, Approver} from '../core/tool-host.ts';
import type {ConfirmationPolicy} from './approvals/policy.ts';
import type {Registry} from './registry.ts';
import type {Session} from './session.ts';

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

/** Ruling E7, W12: what the operator wrote holds for every tool; the default only for those without a limit of their own. */
export function outputLimitOf(
  {
    registry,
    maxOutputBytes,
    maxOutputBytesIsDefault = false,
  }: Pick<Runtime, 'registry' | 'maxOutputBytes' | 'maxOutputBytesIsDefault'>,
  tool: string,
): number {
  if (!maxOutputBytesIsDefault) return maxOutputBytes;
  const found = registry.find(tool);
  return (found.ok ? found.value.maxOutputBytes : undefined) ?? maxOutputBytes;
}
