// Reader mode on three sets of labelled pages in one run: whole articles, segments, and words by kind of page.
// usage: node bench/reader/sets.js DATA [--weights FILE] [--full] [--peers] [--worst N] [--against FILE] [--save FILE]
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {gunzipSync} from 'node:zlib';
import {converters} from '../converters.js';
import {randomFrom} from '../corpora.js';
import {evaluate, mean, summary} from './evaluate.js';
import {labelledPages} from './labelled-pages.js';
import {fullMode, PEERS, readerMode} from './modes.js';
import {segmentCounts, segmentScore, shingleScore} from './shingles.js';
import {textOfMarkdown} from './words.js';

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    weights: {type: 'string'},
    full: {type: 'boolean', default: false},
    peers: {type: 'boolean', default: false},
    worst: {type: 'string', default: '0'},
    against: {type: 'string'},
    save: {type: 'string'},
  },
});
const [directory, ...more] = positionals;
if (directory === undefined || more.length > 0) {
  console.error(
    'usage: node bench/reader/sets.js DATA [--weights FILE] [--full] [--peers] [--worst N] [--against FILE] [--save FILE]',
  );
  process.exit(2);
}

/** The weights of the product were fitted on both halves; those of `--weights` on half 1 alone. */
const HALF = 0;
/** A page that keeps less of its text than this is lost. */
const LOST = 0.15;

const contenders = {'forge-tools, reader': await readerMode()};
if (values.full) contenders['forge-tools, full'] = await fullMode();
if (values.peers) {
  for (const [name, convert] of Object.entries(await converters()))
    if (PEERS.test(name)) contenders[name] = convert;
}
const fitted = values.weights === undefined ? undefined : await readerMode(values.weights);
for (const [name, convert] of Object.entries(contenders)) {
  const rows = {
    articles: articleRows(convert),
    segments: segmentRows(convert),
    wcxb: wordRows(convert),
    ...(fitted && name === 'forge-tools, reader' && {'wcxb held out': wordRows(fitted)}),
  };
  console.log(`\n${name}`);
  for (const [set, some] of Object.entries(rows)) console.log(lineOf(set, some));
  if (name !== 'forge-tools, reader') continue;
  if (values.save !== undefined) writeFileSync(values.save, JSON.stringify(rows));
  if (values.against !== undefined) compare(rows, JSON.parse(readFileSync(values.against, 'utf8')));
  for (const [set, some] of Object.entries(rows)) printWorst(set, some, Number(values.worst));
}

function articleRows(convert) {
  return [...linesOf('articles')].map(({id, html, url, text}) => ({
    id,
    ...shingleScore(textOfMarkdown(convert(html, url) ?? ''), text),
  }));
}

function segmentRows(convert) {
  return [...linesOf('segments')].map(page => {
    const text = textOfMarkdown(convert(page.html, 'https://example.com/') ?? '');
    const counts = segmentCounts(text, page.with, page.without);
    // Of the text only these segments are known, so a page of which none is there is taken for lost.
    return {id: page.id, ...counts, recall: counts.found / Math.max(1, page.with.length)};
  });
}

function wordRows(convert) {
  const pages = [...labelledPages(join(directory, 'wcxb-dev'), {half: HALF})];
  // A page of which nothing was labelled says nothing.
  return evaluate(
    pages.filter(({truth}) => truth !== ''),
    convert,
  );
}

function* linesOf(set) {
  for (const line of readFileSync(join(directory, set, 'labels.jsonl'), 'utf8').split('\n')) {
    if (line === '') continue;
    const page = JSON.parse(line);
    const packed = readFileSync(join(directory, set, 'html', `${page.id}.html.gz`));
    yield {...page, html: gunzipSync(packed).toString('utf8')};
  }
}

function figuresOf(set, rows) {
  if (set === 'segments') return {...segmentScore(rows), lost: lostShare(rows)};
  if (set !== 'articles') return summary(rows);
  const precision = mean(rows.map(row => row.precision));
  const recall = mean(rows.map(row => row.recall));
  return {f1: (2 * precision * recall) / (precision + recall), precision, recall, lost: lostShare(rows)};
}

function lostShare(rows) {
  return rows.filter(({recall}) => recall < LOST).length / rows.length;
}

function lineOf(set, rows) {
  const figures = Object.entries(figuresOf(set, rows)).map(([key, value]) => `${key} ${value.toFixed(4)}`);
  return `${set} (${rows.length}): ${figures.join(', ')}`;
}

/** Paired bootstrap over pages: the difference, and where 95 % of 1,000 drawings lie. */
function compare(rows, before) {
  const random = randomFrom(5);
  for (const [set, some] of Object.entries(rows)) {
    const others = new Map((before[set] ?? []).map(row => [row.id, row]));
    const pairs = some.filter(({id}) => others.has(id)).map(row => [row, others.get(row.id)]);
    if (pairs.length === 0) continue;
    const difference = drawn =>
      figuresOf(
        set,
        drawn.map(([row]) => row),
      ).f1 -
      figuresOf(
        set,
        drawn.map(([, row]) => row),
      ).f1;
    const drawings = Array.from({length: 1000}, () =>
      difference(pairs.map(() => pairs[Math.floor(random() * pairs.length)])),
    ).sort((one, other) => one - other);
    const [low, high] = [drawings[25], drawings[974]].map(value => value.toFixed(4));
    console.log(`${set}: ${difference(pairs).toFixed(4)} [${low}, ${high}] beside what was saved`);
  }
}

function printWorst(set, rows, count) {
  const sorted = rows.toSorted((one, other) => scoreOf(one) - scoreOf(other));
  for (const row of sorted.slice(0, count)) console.log(set, JSON.stringify(row));
}

function scoreOf({f1, found, wrong}) {
  return f1 ?? found - wrong;
}
