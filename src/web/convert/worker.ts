import {parentPort} from 'node:worker_threads';
import {ConversionProblem} from '../extract/conversion-problem.ts';
import {type Job, type JobResults, runJob, transferables} from './jobs.ts';

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
async function run(job: Job): Promise<JobResults[Job['kind']]> {
  if (job.kind !== 'convert' || job.media !== 'pdf') return runJob(job);
  const {runPdfJob} = await import('./pdf-job.ts');
  return runPdfJob(job);
}
