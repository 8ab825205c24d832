import type {ByteString} from './byte-string.ts';

/** One line of a hunk: kept, removed or added. */
export interface HunkLine {
  readonly kind: ' ' | '-' | '+';
  /** With its line ending; without one where `\ No newline at end of file` followed. */
  readonly text: ByteString;
}

export interface Hunk {
  /** Line of the patch text that holds the `@@` header, 1-based. */
  readonly line: number;
  /**
   * Line of the old file where it says it belongs, 1-based; of a hunk that only adds, the line it
   * goes behind. Undefined where such a hunk contradicts itself about that.
   */
  readonly oldStart: number | undefined;
  /** Its header has no line numbers: it goes where its old lines are, if they are there once. */
  readonly anywhere?: boolean;
  readonly lines: readonly HunkLine[];
}

interface Section {
  /** Line of the patch text where the section begins, 1-based. */
  readonly line: number;
  /** As written, without its prefix. Not yet checked against the workspace. */
  readonly path: string;
  readonly hunks: readonly Hunk[];
}

/** What a patch says about one file. */
export type PatchSection =
  | (Section & {readonly kind: 'create'; readonly executable: boolean})
  | (Section & {
      readonly kind: 'delete';
      /** It does not quote the content. */
      readonly whole?: boolean;
    })
  | (Section & {readonly kind: 'modify'; readonly executable: boolean | undefined})
  | (Section & {readonly kind: 'rename'; readonly from: string; readonly executable: boolean | undefined});

export interface Patch {
  readonly sections: readonly PatchSection[];
  /** Hunks whose header had wrong line counts (ruling W7). */
  readonly recounted: number;
  /** Of the text as submitted. */
  readonly sizeBytes: number;
}
