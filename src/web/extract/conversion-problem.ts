/** Why a document cannot be turned into Markdown: what a program can tell apart. */
export type ProblemReason = 'damaged' | 'encrypted' | 'no_text' | 'too_complex';

/** Expected: thrown where a document is converted, and an `extraction_failed` where the job ends. */
export class ConversionProblem extends Error {
  override readonly name = 'ConversionProblem';
  readonly reason: ProblemReason;

  constructor(reason: ProblemReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
