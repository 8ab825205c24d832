import type {Json} from '../../core/json.ts';
import type {FileChange} from '../../workspace/patch/file-change.ts';

/** What a tool worked out, in the words that all of them share. */
export interface PlannedChange {
  readonly changes: readonly FileChange[];
  /** W7: as submitted, or our own diff where the tool takes none. */
  readonly patch: string | Uint8Array;
  readonly changedFiles: readonly string[];
  /**
   * What the session knows of the files afterwards: all, as it wrote them whole; nothing, so that it has to read
   * them again; by default, as much as before.
   */
  readonly knows?: 'all' | 'nothing' | undefined;
  /** More for the event of the change. */
  readonly event?: {readonly [field: string]: Json} | undefined;
}
