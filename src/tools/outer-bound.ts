/**
 * FR-WF-TIMEOUT-01: how much longer the runtime waits than the limit that the Tool API names, so that the
 * tool itself is the one who says that time ran out, and what it has.
 */
export const OUTER_MS = 2000;

/**
 * How much longer than that a tool that changes files is waited for, once its signal has fired: what it had half
 * done is taken back before it answers.
 */
export const FINISH_MS = 60_000;
