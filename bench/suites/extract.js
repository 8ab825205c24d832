// HTML to Markdown: the whole extraction (parse, main content, boilerplate, Markdown) beside its peers.
import {converters, OURS} from '../converters.js';
import {loadOurs, loadPeer} from '../load.js';
import {alternate, ratios} from '../measure.js';
import {describePages, loadPages} from '../pages.js';

/** Those that build a tree of objects, often a hundred times slower; their garbage is not to be ours. */
const HEAVY = /turndown|node-html-markdown/;

export async function measure({rounds}) {
  const pages = loadPages();
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0);
  const all = Object.entries(await converters());
  const light = all.filter(([name]) => !HEAVY.test(name));
  const heavy = all.filter(([name]) => name === OURS || HEAVY.test(name));
  const costs = await alternate(overPages(pages, Object.fromEntries(light)), rounds, {sampleMs: 500});
  const tree = await parsing(pages, bytes, rounds);
  const heavyCosts = await alternate(overPages(pages, Object.fromEntries(heavy)), Math.min(rounds, 3));
  const tableOf = (title, of) => {
    const rows = Object.entries(of).map(([name, ms]) => ({name, costs: ms, bytes}));
    return {title, unit: 'MB/s', rows, ours: OURS};
  };

  const bars = [{text: 'times @mdream/js', values: ratios(costs[OURS], costs['@mdream/js']), atLeast: 2}];
  const rust = costs['mdream (Rust)'];
  if (rust) bars.push({text: 'aim: times mdream (Rust)', values: ratios(costs[OURS], rust), atLeast: 1});
  return {
    tables: [tableOf('HTML to Markdown', costs), tree, tableOf('beside those on a DOM', heavyCosts)],
    bars,
    remarks: [describePages(pages), 'mdream and html-to-text do not build the tree of the HTML standard.'],
  };
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
