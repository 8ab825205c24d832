import {rmSync} from 'node:fs';
import {onTestFinished, vi} from 'vitest';

/** No process of this machine runs as this user, and no other run of these tests takes it. */
export const UNUSED_UID = 2 ** 31 - 1 - process.pid;

/**
 * The code under test takes this process for one of that user until the test ends. Not a user whom other tests
 * start processes as: root would make the directory of its sessions, which then is not its own.
 */
export function asUnusedUser(): void {
  vi.spyOn(process, 'getuid').mockReturnValue(UNUSED_UID);
  onTestFinished(() => rmSync(`/tmp/forge-tools-sessions-${UNUSED_UID}`, {recursive: true, force: true}));
}
