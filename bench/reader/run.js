// Main content beside its peers, on labelled pages: word F1, what is lost, and time.
// usage: node bench/reader/run.js PAGES [--half 0|1] [--every N] [--weights FILE] [--peers] [--write]
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {converters} from '../converters.js';
import {machineFacts} from '../machine.js';
import {evaluate, summary} from './evaluate.js';
import {labelledPages} from './labelled-pages.js';
import {fullMode, PEERS, readerMode} from './modes.js';

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    half: {type: 'string'},
    every: {type: 'string', default: '1'},
    weights: {type: 'string'},
    peers: {type: 'boolean', default: false},
    write: {type: 'boolean', default: false},
  },
});
const [directory, ...more] = positionals;
if (directory === undefined || more.length > 0) {
  console.error(
    'usage: node bench/reader/run.js PAGES [--half 0|1] [--every N] [--weights FILE] [--peers] [--write]',
  );
  process.exit(2);
}

const contenders = {
  'forge-tools, reader': await readerMode(values.weights),
  'forge-tools, full': await fullMode(),
};
if (values.peers) {
  for (const [name, convert] of Object.entries(await converters()))
    if (PEERS.test(name)) contenders[name] = convert;
}
const every = Number(values.every);
const options = values.half === undefined ? {} : {half: Number(values.half)};
// A page of which nothing was labelled says nothing.
const pages = [...labelledPages(directory, options)].filter(
  ({truth}, at) => truth !== '' && at % every === 0,
);
const lines = [
  `${pages.length} pages; word F1, mean over pages; lost: pages with less than 15 % of their text; h1: pages that keep the one that is their title`,
];
for (const [name, convert] of Object.entries(contenders)) {
  const start = process.cpuUsage();
  const rows = evaluate(pages, convert);
  const {user, system} = process.cpuUsage(start);
  const failed = rows.filter(row => row.failed !== undefined).length;
  const figures = Object.entries(summary(rows)).map(([key, value]) => `${key} ${value.toFixed(3)}`);
  lines.push(
    `${name}: ${figures.join(', ')}; ${((user + system) / 1e6).toFixed(1)} s with reading and scoring${failed > 0 ? `; ${failed} failed` : ''}`,
  );
  console.log(lines.at(-1));
}
if (values.write) {
  const {cpu, cores, memoryGb, system, node} = machineFacts();
  mkdirSync(join(import.meta.dirname, 'results'), {recursive: true});
  writeFileSync(
    join(import.meta.dirname, 'results', `${new Date().toISOString().slice(0, 10)}.md`),
    `# Main content\n\n${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}.\n\`node bench/reader/run.js PAGES ${process.argv.slice(3).join(' ')}\`\n\n\`\`\`\n${lines.join('\n')}\n\`\`\`\n`,
  );
}
