/** What the process says to a shell. Documented in docs/cli.md. */
export const EXIT = {
  ok: 0,
  /** A call (one of several) failed, or a check found something; the output says what. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The configuration cannot be used. */
  config: 3,
  /** `fetch` printed a page of which a part is missing; standard error says which and how to get it. */
  cut: 4,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
