// A worker thread that exchanges a directory of the tree for a link to a place outside and back, as fast as
// it can, until it is told to stop. `state`: [stop, rounds].
import {renameSync, symlinkSync, unlinkSync} from 'node:fs';
import {workerData} from 'node:worker_threads';

const {directory, aside, outside, state} = workerData;
/** Long enough for others to find either, short enough to come between two of their looks. */
const pause = turns => {
  for (let turn = 0; turn < turns; turn += 1) Atomics.load(state, 0);
};

for (let round = 0; Atomics.load(state, 0) === 0; round += 1) {
  renameSync(directory, aside);
  symlinkSync(outside, directory);
  pause((round % 50) * 1000);
  unlinkSync(directory);
  renameSync(aside, directory);
  Atomics.add(state, 1, 1);
  pause((round % 30) * 1000);
}
