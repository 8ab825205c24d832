// HTML to Markdown: the whole extraction (parse, main content, boilerplate, Markdown) beside its peers.
import {fork} from 'node:child_process';
import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {CHUNKED, CHUNKED_LATER, CONVERTERS, converters, OURS, READER} from '../converters.js';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {loadOurs, loadPeer} from '../load.js';
import {alternateApart, LONG_WARM_UP_MS, ratios} from '../measure.js';
import {describePages, loadPages} from '../pages.js';

const STEADY = {sampleMs: 500, warmUpMs: LONG_WARM_UP_MS};
/** Those that build a tree of objects: they do what we do, often a hundred times slower. */
const ON_DOM = /turndown|node-html-markdown/;
/** Name → loads what parses alone. */
const PARSERS = {
  'forge-tools (tree)': async () =>
    (await loadOurs('web/extract/parse/parse-fully.js').catch(() => ({}))).parseHtml,
  'parse5 (tree)': async () => (await loadPeer('parse5'))?.parse,
  'htmlparser2 (events)': async () => {
    const htmlparser2 = await loadPeer('htmlparser2');
    return htmlparser2 && (html => new htmlparser2.Parser({}).end(html));
  },
};
/** The first page is the one whose size is nearest. */
const FIRST_PAGE = 244_000;
const FIRST_PAGE_BY = [OURS, CHUNKED, CHUNKED_LATER, 'mdream (Rust)', '@mdream/js'];

export async function measure({rounds}) {
  const pages = loadPages();
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0);
  const besides = CONVERTERS.filter(name => !ON_DOM.test(name));
  const onDom = CONVERTERS.filter(name => name === OURS || ON_DOM.test(name));
  const costs = await alternateApart(import.meta.filename, besides, rounds, STEADY);
  const parsing = await alternateApart(import.meta.filename, Object.keys(PARSERS), rounds, STEADY);
  const domCosts = await alternateApart(import.meta.filename, onDom, Math.min(rounds, 3), STEADY);
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
    tables: [
      tableOf('HTML to Markdown', costs),
      {...tableOf('parsing alone', parsing), ours: undefined},
      tableOf('beside those on a DOM', domCosts),
      first,
    ],
    bars,
    remarks: [describePages(pages), 'mdream and html-to-text do not build the tree of the HTML standard.'],
  };
}

/** One converter or parser over every page, in a process of its own. */
export async function contender(name) {
  const convert = name in PARSERS ? await PARSERS[name]() : (await converters([name]))[name];
  if (convert === undefined) return undefined;
  const pages = loadPages();
  return () => {
    for (const {html} of pages) convert(html);
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
