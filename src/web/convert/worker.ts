import {parentPort, workerData} from 'node:worker_threads';
import {ConversionProblem} from '../extract/conversion-problem.ts';
import {compileLater} from './compile-later.ts';
import {convertToSend, type Job, type JobResults, runJob, type SentDocument, transferables} from './jobs.ts';
import type {ThreadData} from './worker-thread.ts';

if ((workerData as ThreadData).ownsProcess) compileLater();

/** The entry of a worker thread: one job at a time, one answer a job. */
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
async function run(job: Job): Promise<JobResults[Job['kind']] | SentDocument> {
  if (job.kind !== 'convert') return runJob(job);
  if (job.media !== 'pdf') return convertToSend(job);
  const {runPdfJob} = await import('./pdf-job.ts');
  return runPdfJob(job);
}
