// From which size on a document is better done in a thread: the event loop's stall here, the hand-over there.
import {corpora, randomFrom} from '../corpora.js';
import {loadOurs} from '../load.js';
import {alternate, cpuTime} from '../measure.js';
import {BASE, grownPage, loadPages} from '../pages.js';

const SIZES = [8192, 16_384, 32_768, 65_536, 131_072];
const HERE = 'here: the loop stands still';
const THREAD = 'in a thread, both threads';

export async function measure({rounds}) {
  const {Deadline} = await loadOurs('core/deadline.js');
  const {systemClock} = await loadOurs('core/clock.js');
  const {WorkerPool} = await loadOurs('web/convert/worker-pool.js');
  const {chunkMarkdown} = await loadOurs('web/chunk/plan-chunks.js');
  const {countTokens} = await loadOurs('web/tokens/count-tokens.js');
  const never = Number.POSITIVE_INFINITY;
  const here = new WorkerPool({threshold: {convert: never, chunk: never}, maxThreads: 2});
  const thread = new WorkerPool({threshold: {convert: 0, chunk: 0}, maxThreads: 2});
  const run = async (pool, job) => {
    const budget = new Deadline(60_000, systemClock);
    const done = await pool.run(job, budget);
    budget.close();
    if (!done.ok) throw new Error(done.error.message);
    return done.value;
  };
  const tables = [];
  const pages = loadPages();
  for (const size of SIZES) {
    const bytes = Buffer.from(grownPage(pages, size));
    const source = {media: 'html', headerCharset: 'utf-8', baseUrl: BASE, honorBaseHref: false};
    const markdown = corpora().prose.slice(0, size);
    // A thread takes the bytes over, so each job has a copy; it is small beside the job.
    const jobs = {
      'HTML to chunks': () => ({kind: 'convert', bytes: Buffer.from(bytes), ...source, maxTokens: 600}),
      'Markdown to chunks': () => ({kind: 'chunk', markdown, maxTokens: 600}),
    };
    for (const [what, job] of Object.entries(jobs)) {
      const costs = await alternate(
        {[HERE]: () => run(here, job()), [THREAD]: () => run(thread, job())},
        rounds,
      );
      const rows = Object.entries(costs).map(([name, ms]) => ({name, costs: ms}));
      tables.push({title: `${what}, ${Math.round(size / 1024)} KiB`, rows});
    }
  }
  await Promise.all([here.close(), thread.close()]);
  const worst = randomLetters(65_536);
  const stall = await alternate({worst: () => chunkMarkdown(worst, 600, countTokens)}, rounds);
  const rows = [{name: '64 KiB of random letters', costs: stall.worst}];
  tables.push({title: 'the slowest Markdown that is chunked here', rows});
  return {tables, remarks: [await firstUse(WorkerPool, Deadline, systemClock)]};
}

function randomLetters(length) {
  const random = randomFrom(9);
  return Array.from({length}, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');
}

/** A thread's first document also starts the thread and loads the code in it. */
async function firstUse(WorkerPool, Deadline, clock) {
  const pool = new WorkerPool({threshold: {convert: 0, chunk: 0}, maxThreads: 1});
  const budget = new Deadline(60_000, clock);
  const start = cpuTime();
  await pool.run({kind: 'chunk', markdown: 'text', maxTokens: 600}, budget);
  const took = cpuTime() - start;
  budget.close();
  await pool.close();
  return `The first use of a thread takes ${took.toFixed(0)} ms of computing more.`;
}
