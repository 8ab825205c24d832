import {contentHash} from '../content-hash.ts';

/** A name for the files that concern one workspace, as several share a state directory. */
export function workspaceKey(root: string): string {
  return contentHash(Buffer.from(root)).slice(0, 16);
}
