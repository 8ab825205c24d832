import {type Note, TRUNCATION_PRECEDENCE, type TruncationReason} from '../page.ts';

/**
 * FR-WF-TRUNC-REASON-02: the reason of highest precedence among the notes. Every reason is a note too,
 * so the notes say both whether and why a response is truncated.
 */
export function truncationReason(notes: readonly Note[]): TruncationReason | undefined {
  return TRUNCATION_PRECEDENCE.find(reason => notes.includes(reason));
}
