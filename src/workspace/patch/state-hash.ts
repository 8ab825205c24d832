import {type ContentHash, contentHash} from '../content-hash.ts';
import type {FileState} from './file-change.ts';
import {stateBytes} from './state-bytes.ts';

const known = new WeakMap<FileState, ContentHash>();

/** The hash of a content; worked out once for each state, as several steps of a change ask for it. */
export function stateHash(state: FileState): ContentHash {
  const before = state.hash ?? known.get(state);
  if (before !== undefined) return before;
  const hash = contentHash(stateBytes(state));
  known.set(state, hash);
  return hash;
}
