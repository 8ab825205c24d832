import type {Budget} from '../../core/budget.ts';
import type {Result} from '../../core/result.ts';
import type {Guard} from '../guard/create-guard.ts';
import type {CheckedUrl, PinnedTarget} from '../page.ts';
import type {HostCall} from './host-call.ts';

/** Leave to connect for any hop of a call: the rules on hosts (review R11), then resolution and guard (FR-WF-07e). */
export async function authorizeHop(
  checked: CheckedUrl,
  {reach, pins}: HostCall,
  guard: Guard,
  budget: Budget,
): Promise<Result<PinnedTarget>> {
  const permitted = reach.permit(checked.url);
  return permitted.ok ? guard.authorize(checked, pins, budget) : permitted;
}
