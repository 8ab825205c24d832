import {readdirSync, readFileSync} from 'node:fs';
import {errorCode} from '../../system/error-code.ts';

const O_CLOEXEC = 0o2000000;

/**
 * Descriptors that a child would inherit although nobody gave them to it: those that this process
 * itself inherited. Node's own are closed on exec. `place` is where the system says of a process what it has open.
 */
export function leakedDescriptors(place = '/proc/self'): readonly number[] {
  return openDescriptors(place)
    .map(Number)
    .filter(descriptor => descriptor > 2 && !isClosedOnExec(place, descriptor));
}

/** review B6: without /proc (macOS) nobody can say; libuv closes what Node has opened. */
function openDescriptors(place: string): readonly string[] {
  try {
    return readdirSync(`${place}/fd`);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') throw error;
    return [];
  }
}

function isClosedOnExec(place: string, descriptor: number): boolean {
  try {
    const flags = /flags:\t([0-7]+)/.exec(readFileSync(`${place}/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return (Number.parseInt(String(flags), 8) & O_CLOEXEC) !== 0;
  } catch {
    // The one that listed the directory is gone again.
    return true;
  }
}
