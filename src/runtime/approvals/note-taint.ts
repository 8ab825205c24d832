import type {Json} from '../../core/json.ts';
import type {Session} from '../session.ts';
import type {TaintFinding} from '../taint/run-taint.ts';

/** Writes down what taint said of a call, where that is worth a line. Nothing of it counts but the bits it spent. */
export function noteTaint(
  taint: TaintFinding,
  about: {readonly [field: string]: Json},
  session: Session,
): void {
  if (taint.decision === 'pass' && taint.bits === 0) return;
  session.emit('taint_checked', {
    ...about,
    mode: session.taint.mode,
    finding: taint.decision,
    about: taint.about,
    reason: taint.reason,
    bits: taint.bits,
    bits_left: session.taint.bitsLeft,
  });
}
