import {toUrl} from '../../core/text/to-url.ts';
import type {ExtractionMode} from '../options.ts';
import type {ExtractedDocument} from '../page.ts';
import {BlockWriter} from './block-writer.ts';
import {TreeConverter} from './convert-tree.ts';
import {documentTitle} from './document-title.ts';
import {hasContent} from './has-content.ts';
import {LinkTargets} from './link-targets.ts';
import {scanMainContent} from './reader/main-content.ts';
import {readingTree} from './reader/reading-tree.ts';
import {scanDocument} from './scan-document.ts';
import {ATTRIBUTE} from './tree/attribute.ts';
import {parseHtml} from './tree/parse-html.ts';
import type {SourceText} from './tree/source-text.ts';
import {TAG} from './tree/tag.ts';
import {DOCUMENT, NONE, type Tree} from './tree/tree.ts';
import {visibleText} from './tree/visible-text.ts';

export interface ExtractHtmlOptions {
  /** D10: `final_url`, the base of relative links. */
  readonly baseUrl: string;
  /** Whether `<base href>` replaces it. */
  readonly honorBaseHref: boolean;
  /** R2: by the rules of SRD 3.5 (the default), or the main content by its structure. */
  readonly mode?: ExtractionMode;
}

/** SRD 3.5.1, R2: the Markdown, title and language of an HTML document. Pure; the same input gives the same bytes. */
export function extractHtml(html: string | SourceText, options: ExtractHtmlOptions): ExtractedDocument {
  const writer = new BlockWriter();
  const said = writeHtml(html, options, writer);
  return {markdown: writer.toString(), ...said};
}

/** The same with Markdown that `BlockWriter` has packed. */
export interface PackedDocument extends Omit<ExtractedDocument, 'markdown'> {
  readonly markdown: Uint8Array | string;
}

export function packHtml(html: SourceText, options: ExtractHtmlOptions): PackedDocument {
  const writer = new BlockWriter(html.length);
  const said = writeHtml(html, options, writer);
  return {markdown: writer.packed(), ...said};
}

/** The same for a parsed document; `htmlLength` is the length of its source. */
export function extractTree(tree: Tree, htmlLength: number, options: ExtractHtmlOptions): ExtractedDocument {
  const writer = new BlockWriter();
  const said = writeTree(tree, htmlLength, options, writer);
  return {markdown: writer.toString(), ...said};
}

/** What a document says beside its text. */
type Said = Omit<ExtractedDocument, 'markdown'>;

/** What is written is put together when the tree is gone. */
function writeHtml(html: string | SourceText, options: ExtractHtmlOptions, writer: BlockWriter): Said {
  const tree = options.mode === 'reader' ? readingTree(html) : parseHtml(html);
  const said = writeTree(tree, html.length, options, writer);
  tree.release();
  return said;
}

function writeTree(tree: Tree, htmlLength: number, options: ExtractHtmlOptions, writer: BlockWriter): Said {
  const title = documentTitle(tree);
  const language = documentLanguage(tree);
  const targets = new LinkTargets(linkBase(tree, options), htmlLength);
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

/** Review R18: longer than any language has a name (BCP 47 has 35 for the usual ones); a part of it would be another. */
const LONGEST_LANGUAGE = 100;

// FR-WF-13f
function documentLanguage(tree: Tree): string | undefined {
  for (let node = tree.firstChild(DOCUMENT); node !== NONE; node = tree.nextSibling(node)) {
    if (tree.tag(node) !== TAG.html) continue;
    const language = visibleText(tree.attribute(node, ATTRIBUTE.lang) ?? '');
    return language.trim() === '' || language.length > LONGEST_LANGUAGE ? undefined : language;
  }
  return undefined;
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
