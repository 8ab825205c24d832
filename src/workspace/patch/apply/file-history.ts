import type {ByteString} from '../byte-string.ts';
import type {LocatedHunk} from './apply-hunks.ts';

/** The same content under one or several names, from its first to its last section. */
export interface FileHistory {
  /** Undefined where a section creates it. */
  readonly initial: ByteString | undefined;
  /** Undefined where a section deletes it. */
  readonly final: ByteString | undefined;
  /** The hunks of each section that had some, with the number of lines before and after. */
  readonly versions: readonly FileVersion[];
}

export interface FileVersion {
  readonly kind: 'create' | 'delete' | 'modify';
  readonly hunks: readonly LocatedHunk[];
  /** Number of the section in the patch, to keep their order across threads. */
  readonly order: number;
}
