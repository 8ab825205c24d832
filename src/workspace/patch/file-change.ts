import type {ContentHash} from '../content-hash.ts';
import type {Owner} from '../owner.ts';
import type {WritablePath} from '../workspace-path.ts';
import type {ByteString} from './byte-string.ts';

export interface FileState {
  readonly content: ByteString;
  /** Permission bits; undefined for a new file, which gets what the umask leaves. */
  readonly mode: number | undefined;
  /** Of a file on disk. */
  readonly owner?: Owner | undefined;
  /** The content in its other forms, where they are there already. */
  readonly hash?: ContentHash | undefined;
  readonly bytes?: Uint8Array | undefined;
}

/** What becomes of one file in the end, whatever the sections between did. */
export type FileChange =
  | {readonly kind: 'create'; readonly path: WritablePath; readonly new: FileState}
  | {readonly kind: 'delete'; readonly path: WritablePath; readonly old: FileState}
  | {readonly kind: 'modify'; readonly path: WritablePath; readonly old: FileState; readonly new: FileState}
  | {
      readonly kind: 'rename';
      readonly path: WritablePath;
      readonly from: WritablePath;
      readonly old: FileState;
      readonly new: FileState;
    };

export function isExecutable(state: FileState): boolean {
  return ((state.mode ?? 0) & 0o100) !== 0;
}

/** Sets or clears the executable bit for everybody who may read. */
export function withExecutable(
  mode: number | undefined,
  executable: boolean | undefined,
): number | undefined {
  if (executable === undefined || executable === (((mode ?? 0) & 0o100) !== 0)) return mode;
  if (mode === undefined) return 0o755;
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}
