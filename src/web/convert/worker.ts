import {parentPort} from 'node:worker_threads';
import {type Job, runJob, transferables} from './jobs.ts';

/** The entry of a worker thread: one job at a time, one answer a job. */
parentPort?.on('message', (job: Job) => {
  try {
    const value = runJob(job);
    parentPort?.postMessage({value}, transferables(value));
  } catch (error) {
    parentPort?.postMessage({
      problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
});
