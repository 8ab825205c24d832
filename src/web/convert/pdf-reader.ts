// The entry of the process that reads one PDF.

import type {ConvertJob} from './jobs.ts';
import {PDF_HEAP_MB, WorkerThread} from './workers.ts';

/**
 * The work is done by a thread, so that this one hears
 * when its host is gone, whatever the document keeps the other one busy with.
 */
process.once('disconnect', () => process.exit());
process.once('message', async (job: ConvertJob) => {
  const answer = await new WorkerThread({heapMb: PDF_HEAP_MB}).run(job);
  process.send?.(answer, () => process.exit());
});
