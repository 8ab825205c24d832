/** A step of this run that changed files, as its log has it. */
export interface PastChange {
  readonly step: number;
  readonly files: readonly string[];
  /** SHA-256 of the record that undo works with. */
  readonly recordHash: string;
  /** The step that it took back. */
  readonly undoes: number | undefined;
}

export interface PastChanges {
  /** The run directory. */
  readonly directory: string;
  /** Oldest first. */
  readonly changes: readonly PastChange[];
}
