// Tokens to the answer: questions with known answers over a directory of pages, replayed without a model.
// usage: node bench/reading/run.js PAGES [--write]
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {loadOurs} from '../load.js';
import {machineFacts} from '../machine.js';
import {median} from '../measure.js';
import {QUESTIONS} from './questions.js';
import {speedOf} from './speed.js';

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {write: {type: 'boolean', default: false}},
});
const [directory, ...more] = positionals;
if (directory === undefined || more.length > 0) {
  console.error('usage: node bench/reading/run.js PAGES [--write]');
  process.exit(2);
}

const [{htmlToMarkdown, chunkMarkdown, countTokens}, {runReadJob, runQuoteJob}, {webReadText, plainTextOf}] =
  await Promise.all([
    loadOurs('index.js'),
    loadOurs('web/convert/read-job.js'),
    Promise.all([loadOurs('tools/web/show-read.js'), loadOurs('web/read/markdown-syntax.js')]).then(
      ([{renderWebRead}, {plainTextOf: plain}]) => ({webReadText: renderWebRead, plainTextOf: plain}),
    ),
  ]);

/** SRD: the most bytes that `web_fetch` answers with. */
const FETCH_BYTES = 102_400;
const BASE = 'https://bench.example/page';
const pages = new Map();
const rows = QUESTIONS.map(([name, kind, question, answer], index) => {
  const markdown = load(name);
  return {
    name,
    kind,
    question,
    half: index % 2 === 0 ? 'tuned' : 'held out',
    fetch: byFetch(markdown, answer),
    section: bySection(markdown, answer),
    find: byFind(markdown, question, answer),
  };
});
const report = [table(), ...quoteLines(), ...(await speedOf({runReadJob}))].join('\n');
console.log(report);
if (values.write) {
  const date = new Date().toISOString().slice(0, 10);
  const {cpu, cores, memoryGb, system, node} = machineFacts();
  const facts = `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}.`;
  mkdirSync(join(import.meta.dirname, 'results'), {recursive: true});
  writeFileSync(
    join(import.meta.dirname, 'results', `${date}.md`),
    `# Reading, ${date}\n\n${facts}\n\n\`\`\`\n${report}\n\`\`\`\n`,
  );
}

function load(name) {
  if (!pages.has(name)) {
    const html = readFileSync(join(directory, `${name}.html`), 'utf8');
    pages.set(name, htmlToMarkdown(html, BASE));
  }
  return pages.get(name);
}

/** Everything that one call gives: chunks in order, as JSON, as far as the bytes reach. */
function byFetch(markdown, answer) {
  const shown = [];
  let bytes = 0;
  for (const chunk of chunkMarkdown(markdown, 600)) {
    bytes += Buffer.byteLength(JSON.stringify(chunk)) + 1;
    if (bytes > FETCH_BYTES) break;
    shown.push(chunk);
  }
  return {
    tokens: countTokens(JSON.stringify(shown)),
    found: has(shown.map(({text}) => text).join('\n\n'), answer),
  };
}

/** The outline, and then the section that a perfect reader would choose, on to its end. */
function bySection(markdown, answer) {
  const overview = ask(markdown, {kind: 'overview'}, 2000);
  let tokens = countTokens(overview.text);
  if (has(overview.body, answer)) return {tokens, found: true};
  const outline = (overview.reading.outline ?? []).toSorted((one, other) => one.tokens - other.tokens);
  for (const {number} of outline) {
    const whole = ask(markdown, {kind: 'section', section: number, fragment: false}, 10_000_000);
    if (!has(whole.body, answer)) continue;
    let read = ask(markdown, {kind: 'section', section: number, fragment: false}, 2000);
    tokens += countTokens(read.text);
    while (!has(read.body, answer) && read.reading.next_chunk !== undefined) {
      read = ask(markdown, {kind: 'chunk', chunk: read.reading.next_chunk}, 2000);
      tokens += countTokens(read.text);
    }
    return {tokens, found: has(read.body, answer)};
  }
  let read = overview;
  while (!has(read.body, answer) && read.reading.next_chunk !== undefined) {
    read = ask(markdown, {kind: 'chunk', chunk: read.reading.next_chunk}, 2000);
    tokens += countTokens(read.text);
  }
  return {tokens, found: has(read.body, answer)};
}

/** The bare question as the query. */
function byFind(markdown, question, answer) {
  const {text, reading} = ask(markdown, {kind: 'find', query: question}, 2000);
  const rank = reading.passages.findIndex(passage => has(passage.text, answer));
  return {tokens: countTokens(text), found: rank >= 0, first: rank === 0};
}

function ask(markdown, question, maxTokens) {
  const {ok, value, error} = runReadJob({markdown, ask: question, maxTokens, links: 'drop'});
  if (!ok) throw new Error(error.message);
  const page = {final_url: BASE, title: 'A page of the bench', snapshot: '0'.repeat(32), notes: []};
  return {
    reading: value,
    text: webReadText({...page, ...value}),
    body: value.passages.map(passage => passage.text).join('\n\n'),
  };
}

/** The answers themselves as quotes: what a check costs. */
function quoteLines() {
  const costs = rows.flatMap(({name}, index) => {
    const [, , , answer] = QUESTIONS[index];
    const [check] = runQuoteJob({markdown: load(name), quotes: [answer]});
    if (check.verdict !== 'exact') return [];
    const {chunk, section, start, end, fragment} = check;
    const heading =
      section.number === 0 ? '' : `, section ${section.number} ${JSON.stringify(section.heading)}`;
    return [countTokens(`exact · chunk ${chunk}${heading} · ${start}-${end} · #${fragment}`)];
  });
  return ['', `verify_quote: ${median(costs)} tokens an answer at the median of ${costs.length} exact ones.`];
}

function table() {
  const ways = {fetch: 'web_fetch', section: 'outline + section', find: 'find'};
  const halves = [
    ['tuned', rows.filter(({half}) => half === 'tuned')],
    ['held out', rows.filter(({half}) => half === 'held out')],
    ['all', rows],
  ];
  const lines = Object.entries(ways).flatMap(([way, title]) =>
    halves.map(([half, some]) => {
      const results = some.map(row => row[way]);
      const total = results.reduce((sum, {tokens}) => sum + tokens, 0);
      const found = results.filter(result => result.found).length;
      const first = way === 'find' ? `  ranked first ${results.filter(result => result.first).length}` : '';
      const share = ((100 * found) / results.length).toFixed(1);
      return `${title.padEnd(20)}${half.padEnd(10)}${String(results.length).padStart(4)} questions ${String(total).padStart(8)} tokens  median ${String(median(results.map(({tokens}) => tokens))).padStart(6)}  answered ${found} (${share} %)${first}`;
    }),
  );
  const missed = rows
    .filter(({find}) => !find.found)
    .map(({name, half, question}) => `  ${half}: ${name}: ${question}`);
  return [...lines, ...(missed.length > 0 ? ['find does not show:', ...missed] : [])].join('\n');
}

function has(text, answer) {
  return bare(text).includes(bare(answer));
}

/** Without marks, bars and case: where a cell ends is no part of an answer. */
function bare(text) {
  return plainTextOf(text.replaceAll(/[*_`|\\]/g, ' ')).text.toLowerCase();
}
