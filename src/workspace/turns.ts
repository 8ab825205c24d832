import {ok, type Result} from '../core/result.ts';
import {nextTurn} from '../system/next-turn.ts';
import {type Deadline, overdue} from './deadline.ts';

// What others wait for while one piece is worked on; each is some milliseconds of work.
/** Lines that are looked at one by one. */
export const LINES_A_TURN = 16_384;
/** Bytes that are looked at one by one. */
export const BYTES_A_TURN = 1_048_576;

/** Work that can be let go on later: at each `yield` others that wait for the event loop may have a turn. */
export type Turns<Value> = Generator<undefined, Value, undefined>;

/** Does all of the work at once. */
export function atOnce<Value>(work: Turns<Value>): Value {
  for (;;) {
    const turn = work.next();
    if (turn.done === true) return turn.value;
  }
}

/** review R12: does the work with a turn for others at each `yield`, and no further than up to the deadline. */
export async function inTurns<Value>(work: Turns<Value>, deadline?: Deadline): Promise<Result<Value>> {
  for (;;) {
    const turn = work.next();
    if (turn.done === true) return ok(turn.value);
    await nextTurn();
    const late = overdue(deadline);
    if (late !== undefined) return late;
  }
}
