import {lstatSync} from 'node:fs';

/** Tells a directory from every other one, whatever its name. */
export interface RootIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** review R4: what a session began with. Another directory of the same name is another workspace; undefined if none is there. */
export function rootIdentity(workspace: string): RootIdentity | undefined {
  const info = lstatSync(workspace, {bigint: true, throwIfNoEntry: false});
  return info?.isDirectory() ? {dev: info.dev, ino: info.ino} : undefined;
}
