// HTML to chunks with exact token counts, beside what one would put together from packages.
import {forgeTools, OURS, readabilityJsdom} from '../converters.js';
import {loadAddon, loadOurs, loadPeer} from '../load.js';
import {alternate, ratios} from '../measure.js';
import {BASE, describePages, loadPages} from '../pages.js';

const MAX_TOKENS = 600;
const STACK = 'readability, jsdom, turndown, LangChain, gpt-tokenizer';

export async function measure({rounds}) {
  const pages = loadPages();
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0);
  const split = await langChain();
  const ours = await forgeTools();
  const readability = await readabilityJsdom();
  const addon = loadAddon('@mdream/rust-linux-x64-gnu');
  const {countTokens} = await loadOurs('web/tokens/count-tokens.js');
  const {chunkMarkdown} = await loadOurs('web/chunk/chunk-markdown.js');
  const whole = () => {
    for (const {html} of pages) chunkMarkdown(ours(html), MAX_TOKENS, countTokens);
  };
  const light = {
    [OURS]: whole,
    ...(addon && {
      'mdream (Rust), LangChain, gpt-tokenizer': async () => {
        for (const {html} of pages) await split(addon.htmlToMarkdown(html, {origin: BASE}).markdown);
      },
    }),
  };
  // Its garbage, hundreds of megabytes of a DOM, is not to be that of the others.
  const heavy = {
    [OURS]: whole,
    [STACK]: async () => {
      for (const {html} of pages) await split(readability(html));
    },
  };
  const costs = await alternate(light, rounds, {sampleMs: 500});
  const ownStages = await stages(pages, rounds, {ours, countTokens, chunkMarkdown});
  const heavyCosts = await alternate(heavy, Math.min(rounds, 3));
  const tableOf = (title, of) => {
    const rows = Object.entries(of).map(([name, ms]) => ({name, costs: ms, bytes}));
    return {title, unit: 'MB/s', rows, ours: OURS};
  };
  return {
    tables: [
      tableOf('HTML to counted chunks', costs),
      ownStages,
      tableOf('beside those on a DOM', heavyCosts),
    ],
    bars: [{text: `times ${STACK}`, values: ratios(heavyCosts[OURS], heavyCosts[STACK]), atLeast: 30}],
    remarks: [describePages(pages), `Chunks of at most ${MAX_TOKENS} tokens, each with its count.`],
  };
}

/** Our own stages, per byte of what each is given. */
async function stages(pages, rounds, {ours, countTokens, chunkMarkdown}) {
  const texts = pages.map(({html}) => ours(html));
  const html = pages.reduce((sum, page) => sum + page.bytes, 0);
  const markdown = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const costs = await alternate(
    {
      'extract, of HTML': () => pages.forEach(page => void ours(page.html)),
      'count, of Markdown': () => texts.forEach(text => void countTokens(text)),
      'chunk and count, of Markdown': () =>
        texts.forEach(text => void chunkMarkdown(text, MAX_TOKENS, countTokens)),
    },
    rounds,
  );
  const rows = Object.entries(costs).map(([name, ms]) => ({
    name,
    costs: ms,
    bytes: name.endsWith('HTML') ? html : markdown,
  }));
  return {title: 'our stages', unit: 'MB/s', rows};
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
