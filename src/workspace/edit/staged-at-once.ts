/** Files that are written at the same time: most of the time goes by waiting for the disk. */
export const STAGED_AT_ONCE = 8;
