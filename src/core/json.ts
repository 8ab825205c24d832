/** What JSON can carry. Failure details, log fields and tool data are of this type. */
export type Json = null | boolean | number | string | readonly Json[] | {readonly [key: string]: Json};
