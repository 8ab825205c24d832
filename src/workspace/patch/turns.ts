/** Lines that are looked at before others that wait for the event loop have their turn: some milliseconds of work. */
export const LINES_A_TURN = 16_384;

/** Work that can be let go on later: at each `yield` another process may have a turn. */
export type Turns<Value> = Generator<undefined, Value, undefined>;

/** Does all of the work at once. */
export function atOnce<Value>(work: Turns<Value>): Value {
  for (;;) {
    const turn = work.next();
    if (turn.done === true) return turn.value;
  }
}
