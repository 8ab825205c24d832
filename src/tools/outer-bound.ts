/**
 * FR-WF-TIMEOUT-01: how much longer the runtime waits than the limit that the Tool API names, so that the
 * tool itself is the one who says that time ran out, and what it has.
 */
export const OUTER_MS = 2000;
