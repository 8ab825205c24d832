// The entry of a worker thread.

import {parentPort, workerData} from 'node:worker_threads';
import {ConversionProblem} from '../extract/extract-html.ts';
import {compileLater} from './compile-later.ts';
import {type Job, type JobResults, runJob, transferables} from './jobs.ts';
import type {ThreadData} from './workers.ts';

if ((workerData as ThreadData).ownsProcess) compileLater();

/** One job at a time, one answer a job. */
parentPort?.on('message', async (job: Job) => {
  try {
    const value = await run(job);
    parentPort?.postMessage({value}, transferables(value));
  } catch (error) {
    parentPort?.postMessage({
      problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
      ...(error instanceof ConversionProblem && {problem: error.message, reason: error.reason}),
    });
  }
});

/** The reader of PDF is loaded for a PDF only. */
async function run(job: Job): Promise<JobResults[Job['kind']]> {
  if (job.kind !== 'convert' || job.media !== 'pdf') return runJob(job);
  const {runPdfJob} = await import('./pdf-job.ts');
  return runPdfJob(job);
}
