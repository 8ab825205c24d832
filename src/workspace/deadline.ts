import type {Budget} from '../core/budget.ts';
import type {Failure} from '../core/failure/failure.ts';
import type {Err} from '../core/result.ts';

/** As much of a `Budget` as a loop over blocks of a file asks for. */
export type Deadline = Pick<Budget, 'spent' | 'failure'>;

/** The failure to return if no more work may be done. Asked between blocks, so at most one block late. */
export function overdue(deadline: Deadline | undefined): Err<Failure> | undefined {
  return deadline?.spent ? deadline.failure() : undefined;
}
