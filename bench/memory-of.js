// Converts one page in this process and tells the parent how much memory that took at most.
// usage: node memory-of.js CONTENDER FILE
import {readFileSync} from 'node:fs';
import {converters, OURS} from './converters.js';
import {loadOurs} from './load.js';
import {BASE} from './pages.js';

const [contender, file] = process.argv.slice(2);
const bytes = readFileSync(file);
const work = contender === OURS ? await inThread() : await alone();
await work();
process.send({bytes: bytes.length, peak: process.resourceUsage().maxRSS * 1024}, () => process.exit(0));

/** As a fetch does it: bytes in, chunks out, in a thread. */
async function inThread() {
  const {Budget} = await loadOurs('core/budget.js');
  const {systemClock} = await loadOurs('core/clock.js');
  const {Offload} = await loadOurs('web/offload/offload.js');
  const offload = new Offload();
  return async () => {
    const budget = new Budget(300_000, systemClock);
    const convert = {kind: 'convert', bytes, media: 'html', headerCharset: 'utf-8', baseUrl: BASE};
    const converted = await offload.run({...convert, honorBaseHref: false}, budget);
    const {markdown} = converted.value.document;
    const chunks = await offload.run({kind: 'chunk', markdown, maxTokens: 600}, budget);
    if (!chunks.ok) throw new Error(chunks.error.message);
    budget.close();
  };
}

async function alone() {
  const convert = (await converters())[contender];
  return async () => convert(bytes.toString('utf8'));
}
