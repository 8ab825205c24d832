import {join} from 'node:path';

/** FR-WF-16a, FR-WF-16b: nothing but digits of the key becomes part of a path. */
export function entryPath(directory: string, key: string): string {
  return join(directory, key.slice(0, 2), `${key}.json`);
}
