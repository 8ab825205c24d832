/** The command line is wrong: a sentence that says what, and which help to read. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
