import {type FileState, fileState} from '../../src/workspace/change/file-change.ts';
import {contentHash, type Owner} from '../../src/workspace/open-file.ts';

/** A file with that content, a character a byte. */
export function stateOf(content: string | Uint8Array, mode?: number, owner?: Owner): FileState {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content;
  return fileState(bytes, contentHash(bytes), {mode, owner});
}
