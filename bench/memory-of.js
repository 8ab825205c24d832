// Converts one page in this process and tells the parent how much memory that took at most.
// usage: node memory-of.js CONTENDER FILE URL
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {converters, OURS, WHOLE} from './converters.js';
import {loadOurs} from './load.js';
import {BASE} from './pages.js';

const [contender, file, url] = process.argv.slice(2);
const work = contender === WHOLE ? await wholeFetch() : contender === OURS ? await inThread() : await alone();
await work();
process.send({peak: process.resourceUsage().maxRSS * 1024}, () => process.exit(0));

/** As a fetch does it: bytes in, chunks out, in a thread. */
async function inThread() {
  const {Deadline} = await loadOurs('core/deadline.js');
  const {systemClock} = await loadOurs('core/clock.js');
  const {chunksOf} = await loadOurs('web/chunk/plan-chunks.js');
  const {WorkerPool} = await loadOurs('web/convert/worker-pool.js');
  const pool = new WorkerPool();
  const source = {media: 'html', headerCharset: 'utf-8', baseUrl: BASE, honorBaseHref: false};
  const bytes = readFileSync(file);
  return async () => {
    const budget = new Deadline(300_000, systemClock);
    const converted = await pool.run({kind: 'convert', bytes, ...source, maxTokens: 600}, budget);
    if (!converted.ok) throw new Error(converted.error.message);
    const {document, plan} = converted.value;
    chunksOf(document.markdown, plan.chunks);
    budget.close();
  };
}

/** From the network into the cache and out of it as chunks. */
async function wholeFetch() {
  const {createToolbox} = await loadOurs('index.js');
  const cache_dir = mkdtempSync(join(tmpdir(), 'forge-bench-'));
  const security = {
    block_loopback: false,
    allow_insecure_overrides: true,
    allowed_ports: [Number(new URL(url).port)],
  };
  const toolbox = createToolbox({config: {tools: {webfetch: {cache_dir, security}}}});
  return async () => {
    const fetched = await toolbox.webFetch({url});
    rmSync(cache_dir, {recursive: true, force: true});
    if (!fetched.ok) throw new Error(fetched.error.message);
  };
}

async function alone() {
  const convert = (await converters([contender]))[contender];
  const bytes = readFileSync(file);
  return async () => convert(bytes.toString('utf8'));
}
