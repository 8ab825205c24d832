import {bytesOf} from './byte-string.ts';
import type {FileState} from './file-change.ts';

/** The bytes of a content; a large one is copied only where it is not there as bytes already. */
export function stateBytes({bytes, content}: FileState): Uint8Array {
  return bytes ?? bytesOf(content);
}
