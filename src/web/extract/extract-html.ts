// HTML becomes Markdown, in full or reader mode.

import {toUrl} from '../../core/text/parse.ts';
import type {ExtractionMode} from '../options.ts';
import type {ExtractedDocument} from '../page.ts';
import {documentLanguage, documentTitle} from './about.ts';
import {BlockWriter} from './block-writer.ts';
import {TreeConverter} from './convert-tree.ts';
import {LinkTargets} from './link-targets.ts';
import {parseHtml} from './parse/parse-fully.ts';
import {scanMainContent} from './reader/main-content.ts';
import {readingTree} from './reader/reading-tree.ts';
import {scanDocument} from './scan-document.ts';
import {ATTRIBUTE, TAG} from './tree/tags.ts';
import {DOCUMENT, NONE, type Tree} from './tree/tree.ts';
import {visibleText} from './tree/visible-text.ts';

interface ExtractHtmlOptions {
  /** D10: `final_url`, the base of relative links. */
  readonly baseUrl: string;
  /** Whether `<base href>` replaces it. */
  readonly honorBaseHref: boolean;
  /** R2: by the rules of SRD 3.5 (the default), or the main content by its structure. */
  readonly mode?: ExtractionMode;
}

/** SRD 3.5.1, R2: the Markdown, title and language of an HTML document. Pure; the same input gives the same bytes. */
export function extractHtml(html: string, options: ExtractHtmlOptions): ExtractedDocument {
  const writer = new BlockWriter();
  const said = writeHtml(html, options, writer);
  // What is written is put together when the tree is gone.
  return {markdown: writer.toString(), ...said};
}

function writeHtml(
  html: string,
  options: ExtractHtmlOptions,
  writer: BlockWriter,
): Omit<ExtractedDocument, 'markdown'> {
  const tree = options.mode === 'reader' ? readingTree(html) : parseHtml(html);
  const title = documentTitle(tree);
  const language = documentLanguage(tree);
  const targets = new LinkTargets(linkBase(tree, options), html.length);
  if (options.mode === 'reader')
    new TreeConverter(tree, scanMainContent(tree), targets, writer).convert(DOCUMENT);
  else writeFirstRoot(tree, targets, writer);
  return {
    ...(title === undefined ? {} : {title}),
    ...(language === undefined ? {} : {language}),
  };
}

// FR-WF-EXT-ROOT-01, D3: the first root in order that has content.
function writeFirstRoot(tree: Tree, targets: LinkTargets, writer: BlockWriter): void {
  const scan = scanDocument(tree);
  for (const root of scan.roots) {
    if (hasContent(tree, root, scan.removed)) new TreeConverter(tree, scan, targets, writer).convert(root);
    if (!writer.isEmpty) return;
  }
}

function linkBase(tree: Tree, {baseUrl, honorBaseHref}: ExtractHtmlOptions): string {
  if (!honorBaseHref) return baseUrl;
  for (let node = tree.firstChild(DOCUMENT); node !== NONE; node = tree.following(node, DOCUMENT)) {
    const href = tree.tag(node) === TAG.base ? tree.attribute(node, ATTRIBUTE.href) : undefined;
    if (href === undefined) continue;
    // HTML: only the first <base> with an href counts, and it may not be a data: or javascript: address.
    const url = toUrl(href, baseUrl);
    return url !== undefined && /^https?:$/.test(url.protocol) ? url.href : baseUrl;
  }
  return baseUrl;
}

/** D3: whether text, or an image with an alternative text, is left in `root`. */
function hasContent(tree: Tree, root: number, removed: Uint8Array): boolean {
  let node = tree.firstChild(root);
  while (node !== NONE) {
    const isRemoved = removed[node] === 1;
    if (!isRemoved) {
      const tag = tree.tag(node);
      const text =
        tag === TAG.text ? tree.text(node) : tag === TAG.img ? tree.attribute(node, ATTRIBUTE.alt) : '';
      if (text && visibleText(text).trim() !== '') return true;
    }
    node = isRemoved ? tree.followingSkipped(node, root) : tree.following(node, root);
  }
  return false;
}

const INDICATORS =
  /<script type=(?:"module"|'module'|module)>|id=(?:"(?:__next|app|root)"|'(?:__next|app|root)'|(?:__next|app|root)(?=[\s>/]))|window\.__(?:NUXT|INITIAL_STATE)__/i;

/**
 * FR-WF-12c.2: whether the HTML, as it came, holds one of the marks of a single-page application. Beyond the
 * letter, the quotes may be single or left out, as minifiers leave them out.
 */
export function hasSpaIndicators(html: string): boolean {
  return INDICATORS.test(html);
}

/** Why a document cannot be turned into Markdown: what a program can tell apart. */
export type ProblemReason = 'damaged' | 'encrypted' | 'no_text' | 'too_complex';

/** Expected: thrown where a document is converted, and an `extraction_failed` where the job ends. */
export class ConversionProblem extends Error {
  override readonly name = 'ConversionProblem';
  readonly reason: ProblemReason;

  constructor(reason: ProblemReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
