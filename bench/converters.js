import {loadAddon, loadOurs, loadPeer} from './load.js';
import {BASE} from './pages.js';

export const OURS = 'forge-tools';
export const READER = 'forge-tools, reader';
export const CHUNKED = 'forge-tools, counted chunks';
export const CHUNKED_LATER = 'forge-tools, counted chunks, as the command line compiles';
export const WHOLE = 'forge-tools, whole web_fetch';

/** Name → loads what makes Markdown (or, where it says so, text) of an HTML page; nothing where that cannot be had. */
const LOADERS = {
  [OURS]: () => forgeTools(),
  [READER]: reader,
  'mdream (Rust)': () => mdreamRust({}),
  'mdream (Rust), minimal': () => mdreamRust({minimal: true, isolateMain: true}),
  '@mdream/js': mdreamJs,
  'html-to-markdown (Rust)': htmlToMarkdownRust,
  turndown,
  'node-html-markdown': nodeHtmlMarkdown,
  'html-to-text (text)': htmlToText,
  'readability, linkedom, turndown': readabilityLinkedom,
  'readability, jsdom, turndown': readabilityJsdom,
  'defuddle, linkedom, turndown': defuddleLinkedom,
};

export const CONVERTERS = Object.keys(LOADERS);

/** Name → what makes Markdown of an HTML page. What does not load is left out. */
export async function converters(names = CONVERTERS) {
  const loaded = {};
  for (const name of names) {
    const convert = await LOADERS[name]();
    if (convert !== undefined) loaded[name] = convert;
  }
  return loaded;
}

export async function forgeTools(mode = 'full') {
  const {extractHtml} = await loadOurs('web/extract/extract-html.js');
  return html => extractHtml(html, {baseUrl: BASE, honorBaseHref: false, mode}).markdown;
}

/** Builds before it have no such mode. */
async function reader() {
  const there = await loadOurs('web/extract/reader/main-content.js').catch(() => undefined);
  return there && forgeTools('reader');
}

export function mdreamRust(options) {
  const addon = loadAddon('@mdream/rust-linux-x64-gnu');
  return addon && (html => addon.htmlToMarkdown(html, {origin: BASE, ...options}).markdown);
}

export async function mdreamJs() {
  const mdream = await loadPeer('@mdream/js');
  return mdream && (html => mdream.htmlToMarkdown(html, {origin: BASE}));
}

function htmlToMarkdownRust() {
  const addon = loadAddon('@kreuzberg/html-to-markdown-node-linux-x64-gnu');
  return addon && (html => addon.convert(html).content);
}

async function turndown() {
  const {default: TurndownService} = await loadPeer('turndown');
  const service = new TurndownService({headingStyle: 'atx', codeBlockStyle: 'fenced'});
  return html => service.turndown(html);
}

async function nodeHtmlMarkdown() {
  const {NodeHtmlMarkdown} = await loadPeer('node-html-markdown');
  const converter = new NodeHtmlMarkdown();
  return html => converter.translate(html);
}

async function htmlToText() {
  const {compile} = await loadPeer('html-to-text');
  return compile({wordwrap: false, limits: {maxInputLength: 1 << 28}});
}

async function readabilityLinkedom() {
  const {parseHTML} = await loadPeer('linkedom');
  const {Readability} = await loadPeer('@mozilla/readability');
  const toMarkdown = await turndown();
  return html => toMarkdown(new Readability(parseHTML(html).document).parse()?.content || '<p></p>');
}

/** The whole of what a page becomes; the documents of linkedom have no styles to be asked for. */
async function defuddleLinkedom() {
  const defuddle = await loadPeer('defuddle');
  const {parseHTML} = await loadPeer('linkedom');
  const Defuddle = defuddle?.default?.default ?? defuddle?.default;
  if (Defuddle === undefined) return undefined;
  const toMarkdown = await turndown();
  return (html, url = BASE) => {
    const {document} = parseHTML(html);
    document.styleSheets ??= [];
    return toMarkdown(new Defuddle(document, {url}).parse().content || '<p></p>');
  };
}

export async function readabilityJsdom() {
  const {JSDOM, VirtualConsole} = await loadPeer('jsdom');
  const {Readability} = await loadPeer('@mozilla/readability');
  const toMarkdown = await turndown();
  // Without a listener: jsdom would print what it thinks of every style sheet.
  const virtualConsole = new VirtualConsole();
  return html => {
    const {window} = new JSDOM(html, {url: BASE, virtualConsole});
    const article = new Readability(window.document).parse();
    window.close();
    return toMarkdown(article?.content || '<p></p>');
  };
}
