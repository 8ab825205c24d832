import {vi} from 'vitest';

/** No process of this machine runs as this user, and no other run of these tests takes it. */
export const UNUSED_UID = 2 ** 31 - 1 - process.pid;

/**
 * The code under test takes this process for one of that user until the test ends.
 */
export function asUnusedUser(): void {
  vi.spyOn(process, 'getuid').mockReturnValue(UNUSED_UID);
}
