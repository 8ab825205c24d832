// HTML to chunks with exact token counts, beside what one would put together from packages.
import {forgeTools, mdreamRust, OURS, readabilityJsdom} from '../converters.js';
import {loadOurs, loadPeer} from '../load.js';
import {alternate, alternateApart, LONG_WARM_UP_MS, ratios} from '../measure.js';
import {describePages, loadPages} from '../pages.js';

const MAX_TOKENS = 600;
const STEADY = {sampleMs: 500, warmUpMs: LONG_WARM_UP_MS};
const MDREAM = 'mdream (Rust), LangChain, gpt-tokenizer';
const STACK = 'readability, jsdom, turndown, LangChain, gpt-tokenizer';

/** Name → loads what makes chunks of an HTML page. */
const chunkers = {
  [OURS]: async () => {
    const {extract, chunkMarkdown, countTokens} = await ours();
    return html => chunkMarkdown(extract(html), MAX_TOKENS, countTokens);
  },
  [MDREAM]: async () => {
    const convert = mdreamRust({});
    const split = await langChain();
    return convert && (html => split(convert(html)));
  },
  [STACK]: async () => {
    const convert = await readabilityJsdom();
    const split = await langChain();
    return html => split(convert(html));
  },
};

export async function measure({rounds}) {
  const pages = loadPages();
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0);
  const costs = await alternateApart(import.meta.filename, [OURS, MDREAM, STACK], rounds, STEADY);
  const rows = Object.entries(costs).map(([name, ms]) => ({name, costs: ms, bytes}));
  const bars = [{text: `times ${STACK}`, values: ratios(costs[OURS], costs[STACK]), atLeast: 30}];
  return {
    tables: [{title: 'HTML to counted chunks', unit: 'MB/s', rows, ours: OURS}, await stages(pages, rounds)],
    bars,
    remarks: [describePages(pages), `Chunks of at most ${MAX_TOKENS} tokens, each with its count.`],
  };
}

/** What makes chunks of every page, in a process of its own. */
export async function contender(name) {
  const chunk = await chunkers[name]();
  if (chunk === undefined) return undefined;
  const pages = loadPages();
  return async () => {
    for (const {html} of pages) {
      const chunks = chunk(html);
      // Waiting for what is no promise would count against ours.
      if (chunks instanceof Promise) await chunks;
    }
  };
}

/** Our own stages, per byte of what each is given. */
async function stages(pages, rounds) {
  const {extract, chunkMarkdown, countTokens} = await ours();
  const texts = pages.map(({html}) => extract(html));
  const html = pages.reduce((sum, page) => sum + page.bytes, 0);
  const markdown = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const costs = await alternate(
    {
      'extract, of HTML': () => pages.forEach(page => void extract(page.html)),
      'count, of Markdown': () => texts.forEach(text => void countTokens(text)),
      'chunk and count, of Markdown': () =>
        texts.forEach(text => void chunkMarkdown(text, MAX_TOKENS, countTokens)),
    },
    rounds,
    STEADY,
  );
  const rows = Object.entries(costs).map(([name, ms]) => ({
    name,
    costs: ms,
    bytes: name.endsWith('HTML') ? html : markdown,
  }));
  return {title: 'our stages', unit: 'MB/s', rows};
}

async function ours() {
  const {countTokens} = await loadOurs('web/tokens/count-tokens.js');
  const {chunkMarkdown} = await loadOurs('web/chunk/plan-chunks.js');
  return {extract: await forgeTools(), chunkMarkdown, countTokens};
}

/** LangChain's splitter for Markdown, told to count tokens as it is told in its documentation. */
async function langChain() {
  const {MarkdownTextSplitter} = await loadPeer('@langchain/textsplitters');
  const {countTokens} = await loadPeer('gpt-tokenizer/encoding/cl100k_base');
  const splitter = new MarkdownTextSplitter({
    chunkSize: MAX_TOKENS,
    chunkOverlap: 0,
    lengthFunction: text => countTokens(text),
  });
  return async text => {
    const parts = await splitter.splitText(text);
    return parts.map(part => ({text: part, tokens: countTokens(part)}));
  };
}
