/** Work on fewer bytes is over before anybody waits for it. */
const LONG_WORK_BYTES = 262_144;

/**
 * Lets everything else that waits have its turn: to be awaited between pieces of work on so many bytes. Work that
 * is short goes on at once.
 */
export async function yieldAfter(bytes: number): Promise<void> {
  if (bytes < LONG_WORK_BYTES) return;
  await new Promise(resolve => {
    setImmediate(resolve);
  });
}
