import {MessageChannel} from 'node:worker_threads';

type Memory = Uint8Array | Uint16Array | Int32Array;

/**
 * Gives the memory of arrays back that nobody reads any more, and that is theirs alone. They are empty then. As that of
 * buffers that have just been made and are nobody's, it goes with the next small collection of garbage; arrays that have
 * been there for a while would keep it until a large one. For a thread that is at work.
 */
export function freeMemory(...arrays: readonly Memory[]): void {
  for (const {buffer} of arrays) structuredClone(buffer, {transfer: [buffer as ArrayBuffer]});
}

/**
 * The same for a thread that waits for others, and so collects no garbage meanwhile: what is handed to a port that is
 * closed is gone as soon as there is nothing else to do.
 */
export function freeMemoryWhenIdle(arrays: readonly Memory[]): void {
  const {port1} = new MessageChannel();
  const buffers = new Set(arrays.map(({buffer}) => buffer as ArrayBuffer));
  port1.postMessage(undefined, [...buffers]);
  port1.close();
}
