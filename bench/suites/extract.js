// HTML to Markdown: the whole extraction (parse, main content, boilerplate, Markdown) beside its peers.
import {fork} from 'node:child_process';
import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {CHUNKED, CHUNKED_LATER, converters, OURS, READER} from '../converters.js';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {loadOurs, loadPeer} from '../load.js';
import {alternate, ratios} from '../measure.js';
import {describePages, loadPages} from '../pages.js';

/** Those that build a tree of objects, often a hundred times slower; their garbage is not to be ours. */
const HEAVY = /turndown|node-html-markdown/;
/** The first page is the one whose size is nearest. */
const FIRST_PAGE = 244_000;
const FIRST_PAGE_BY = [OURS, CHUNKED, CHUNKED_LATER, 'mdream (Rust)', '@mdream/js'];

export async function measure({rounds}) {
  const pages = loadPages();
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0);
  const all = Object.entries(await converters());
  const light = all.filter(([name]) => !HEAVY.test(name));
  const heavy = all.filter(([name]) => name === OURS || HEAVY.test(name));
  const costs = await alternate(overPages(pages, Object.fromEntries(light)), rounds, {sampleMs: 500});
  const tree = await parsing(pages, bytes, rounds);
  const heavyCosts = await alternate(overPages(pages, Object.fromEntries(heavy)), Math.min(rounds, 3));
  const first = await firstPage(pages, rounds);
  const tableOf = (title, of) => {
    const rows = Object.entries(of).map(([name, ms]) => ({name, costs: ms, bytes}));
    return {title, unit: 'MB/s', rows, ours: OURS};
  };

  const bars = [{text: 'times @mdream/js', values: ratios(costs[OURS], costs['@mdream/js']), atLeast: 2}];
  const rust = costs['mdream (Rust)'];
  if (rust) bars.push({text: 'aim: times mdream (Rust)', values: ratios(costs[OURS], rust), atLeast: 1});
  if (costs[READER]) {
    bars.push({
      text: "reader mode, share of the speed of the SRD's",
      values: ratios(costs[READER], costs[OURS]),
      atLeast: 0.5,
    });
  }
  for (const {name, costs: values} of first.rows) {
    if (name !== CHUNKED && name !== CHUNKED_LATER) continue;
    bars.push({text: `first page of a fresh process, ms: ${name}`, values, atMost: 60});
  }
  return {
    tables: [tableOf('HTML to Markdown', costs), tree, tableOf('beside those on a DOM', heavyCosts), first],
    bars,
    remarks: [describePages(pages), 'mdream and html-to-text do not build the tree of the HTML standard.'],
  };
}

/** The page that a process converts before any other: nothing is compiled yet. On the wall. */
function firstPage(pages, rounds) {
  const distance = ({bytes}) => Math.abs(bytes - FIRST_PAGE);
  const [page] = pages.toSorted((one, other) => distance(one) - distance(other));
  return inTemporaryDirectory(async base => {
    const file = join(base, 'page.html');
    writeFileSync(file, page.html);
    const costs = Object.fromEntries(FIRST_PAGE_BY.map(name => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const name of FIRST_PAGE_BY) {
        const child = fork(join(import.meta.dirname, '../first-page.js'), [name, file], {execArgv: []});
        const [{ms}] = await once(child, 'message');
        await once(child, 'exit');
        if (ms !== undefined) costs[name].push(ms);
      }
    }
    const rows = Object.entries(costs)
      .filter(([, values]) => values.length > 0)
      .map(([name, values]) => ({name, costs: values}));
    return {title: `first page of a process, ${Math.round(page.bytes / 1000)} KB`, unit: 'ms', rows};
  });
}

/** What a tree alone costs, or the events of a tokenizer. */
async function parsing(pages, bytes, rounds) {
  const {parseHtml} = await loadOurs('web/extract/tree/parse-html.js').catch(() => ({}));
  const parse5 = await loadPeer('parse5');
  const htmlparser2 = await loadPeer('htmlparser2');
  const contenders = {
    ...(parseHtml && {'forge-tools (tree)': parseHtml}),
    'parse5 (tree)': html => parse5.parse(html),
    'htmlparser2 (events)': html => new htmlparser2.Parser({}).end(html),
  };
  const costs = await alternate(overPages(pages, contenders), rounds);
  return {
    title: 'parsing alone',
    unit: 'MB/s',
    rows: Object.entries(costs).map(([name, ms]) => ({name, costs: ms, bytes})),
  };
}

function overPages(pages, contenders) {
  const entries = Object.entries(contenders).map(([name, convert]) => [
    name,
    () => {
      for (const {html} of pages) convert(html);
    },
  ]);
  return Object.fromEntries(entries);
}
