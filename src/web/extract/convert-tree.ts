// Walks a parsed page and writes it as Markdown.

import type {BlockWriter} from './block-writer.ts';
import {codeFence} from './inline/escape.ts';
import {STRONG} from './inline/inline-buffer.ts';
import {InlineContent, styleOf} from './inline/inline-content.ts';
import type {InlineContext} from './inline/render-inline.ts';
import type {LinkTargets} from './link-targets.ts';
import type {DocumentScan} from './scan-document.ts';
import {type CellSpan, cellSpanOf, pictureSource, roleIn} from './tree/element-facts.ts';
import {ATTRIBUTE, isInlineRole, ROLE, TAG} from './tree/tags.ts';
import {NONE, type Tree} from './tree/tree.ts';
import {visibleText} from './tree/visible-text.ts';

/** FR-WF-13a: writes the Markdown of what is inside a root, without what the scan removed. */
export class TreeConverter {
  readonly #tree: Tree;
  readonly #scan: DocumentScan;
  readonly #inline: InlineContent;
  readonly #writer: BlockWriter;
  readonly #lists = new ListLevels();
  /** The open elements in which blocks are flattened to text: heading, link, cell, caption, term. */
  readonly #inlineContexts: number[] = [];
  /** Those of them in which a line break is a space (D11): all but links. */
  #oneLineContexts = 0;
  #table: TableBuilder | undefined;
  #caption = '';
  #preformatted: PreformattedText | undefined;
  #preformattedNode = NONE;

  constructor(tree: Tree, scan: DocumentScan, targets: LinkTargets, writer: BlockWriter) {
    this.#tree = tree;
    this.#writer = writer;
    this.#scan = scan;
    this.#inline = new InlineContent(targets);
  }

  convert(root: number): void {
    const tree = this.#tree;
    let node = tree.firstChild(root);
    while (node !== NONE) {
      if (this.#scan.removed[node] !== 1) {
        if (tree.tag(node) === TAG.text) {
          this.#addText(tree.text(node));
        } else {
          this.#enter(node);
          const child = tree.firstChild(node);
          if (child !== NONE) {
            node = child;
            continue;
          }
          this.#leave(node);
        }
      }
      let next = tree.nextSibling(node);
      while (next === NONE) {
        node = tree.parent(node);
        if (node === root || node === NONE) break;
        this.#leave(node);
        next = tree.nextSibling(node);
      }
      node = next;
    }
    this.#endParagraph();
  }

  #addText(text: string): void {
    if (this.#preformatted) this.#preformatted.addText(text);
    else this.#inline.addText(text);
  }

  #enter(node: number): void {
    const tag = this.#tree.tag(node);
    const role = roleIn(this.#scan.form, node, tag);
    if (this.#preformatted) this.#preformatted.enter(this.#tree, node, role);
    else if (!this.#enterInline(node, role)) {
      if (this.#inlineContexts.length > 0) this.#enterInInlineContext(role);
      else this.#enterBlock(node, tag, role);
    }
  }

  #leave(node: number): void {
    const tag = this.#tree.tag(node);
    const role = roleIn(this.#scan.form, node, tag);
    if (this.#preformatted) {
      if (node === this.#preformattedNode) this.#endPreformatted();
      else this.#preformatted.leave(role);
    } else if (!this.#leaveInline(node, role)) {
      if (this.#inlineContexts.at(-1) === node) this.#leaveInlineContext(node, tag, role);
      else if (this.#inlineContexts.length > 0) this.#leaveInInlineContext(role);
      else this.#leaveBlock(role);
    }
  }

  /** False for what is not inline. */
  #enterInline(node: number, role: number): boolean {
    switch (role) {
      case ROLE.inline:
        this.#inline.addInstead(this.#scan.form?.instead.get(node));
        return true;
      case ROLE.emphasis:
      case ROLE.strong:
      case ROLE.struck:
        this.#inline.changeStyle(styleOf(role), 1);
        return true;
      case ROLE.code:
        this.#inline.enterCode();
        return true;
      case ROLE.link:
        // D5: block children of a link are flattened.
        if (this.#inline.openLink(this.#tree.attribute(node, ATTRIBUTE.href)))
          this.#inlineContexts.push(node);
        return true;
      case ROLE.image:
        this.#inline.addImage(this.#tree.attribute(node, ATTRIBUTE.alt), this.#sourceOf(node));
        return true;
      case ROLE.lineBreak:
        this.#addLineBreak();
        return true;
      default:
        return false;
    }
  }

  #sourceOf(picture: number): string | undefined {
    const {form} = this.#scan;
    return form ? pictureSource(this.#tree, picture) : this.#tree.attribute(picture, ATTRIBUTE.src);
  }

  #leaveInline(node: number, role: number): boolean {
    switch (role) {
      case ROLE.inline:
      case ROLE.image:
      case ROLE.lineBreak:
        return true;
      case ROLE.emphasis:
      case ROLE.strong:
      case ROLE.struck:
        this.#inline.changeStyle(styleOf(role), -1);
        return true;
      case ROLE.code:
        this.#inline.leaveCode();
        return true;
      case ROLE.link:
        if (this.#inlineContexts.at(-1) === node) {
          this.#inline.closeLink();
          this.#inlineContexts.pop();
        }
        return true;
      default:
        return false;
    }
  }

  #enterBlock(node: number, tag: number, role: number): void {
    this.#endParagraph();
    switch (role) {
      case ROLE.heading:
        this.#openOneLineContext(node);
        break;
      case ROLE.list:
        this.#writer.openList();
        this.#lists.open(tag === TAG.ol, this.#tree.attribute(node, ATTRIBUTE.start));
        break;
      case ROLE.item:
        this.#writer.openItem(this.#lists.level, this.#lists.nextMarker());
        break;
      case ROLE.quote:
        this.#writer.openQuote();
        this.#lists.enterQuote();
        break;
      case ROLE.preformatted:
        this.#preformatted = new PreformattedText(this.#tree, node, this.#scan.form !== undefined);
        this.#preformattedNode = node;
        break;
      case ROLE.rule:
        this.#writer.write('rule', '---');
        break;
      case ROLE.table:
        if (!this.#scan.layoutTables.has(node)) this.#table = new TableBuilder();
        break;
      case ROLE.row:
        this.#table?.startRow();
        break;
      case ROLE.cell:
      case ROLE.caption:
        if (this.#table) this.#openOneLineContext(node);
        break;
      case ROLE.term:
        this.#openOneLineContext(node);
        this.#inline.changeStyle(STRONG, 1);
        break;
    }
  }

  #leaveBlock(role: number): void {
    this.#endParagraph();
    switch (role) {
      case ROLE.list:
        this.#lists.close();
        this.#writer.closeList();
        break;
      case ROLE.item:
        this.#writer.closeItem();
        break;
      case ROLE.quote:
        this.#lists.leaveQuote();
        this.#writer.closeQuote();
        break;
      case ROLE.table:
        this.#endTable();
        break;
    }
  }

  #enterInInlineContext(role: number): void {
    this.#inline.blank();
    if (role === ROLE.preformatted) this.#inline.enterCode();
  }

  #leaveInInlineContext(role: number): void {
    if (role === ROLE.preformatted) this.#inline.leaveCode();
    this.#inline.blank();
  }

  #openOneLineContext(node: number): void {
    this.#inlineContexts.push(node);
    this.#oneLineContexts++;
  }

  #leaveInlineContext(node: number, tag: number, role: number): void {
    this.#inlineContexts.pop();
    this.#oneLineContexts--;
    switch (role) {
      case ROLE.heading: {
        const text = this.#takeInline('heading');
        const level = this.#scan.form?.levels.get(node) ?? tag - TAG.h1 + 1;
        if (text !== '') this.#writer.write('heading', `${'#'.repeat(level)} ${text}`);
        break;
      }
      case ROLE.cell:
        this.#table?.addCell(
          this.#takeInline('cell'),
          tag === TAG.th,
          this.#scan.form && cellSpanOf(this.#tree, node),
        );
        break;
      case ROLE.caption:
        this.#caption = this.#takeInline('paragraph');
        break;
      case ROLE.term:
        this.#inline.changeStyle(STRONG, -1);
        this.#endParagraph();
        break;
    }
  }

  /** D11: a space where there is one line only; two in a row end the paragraph. */
  #addLineBreak(): void {
    if (this.#oneLineContexts > 0) this.#inline.blank();
    else if (this.#inline.endsWithLineBreak && this.#inlineContexts.length === 0) this.#endParagraph();
    else this.#inline.lineBreak();
  }

  #takeInline(kind: InlineContext['kind']): string {
    const isJoined = kind === 'cell' || (kind === 'paragraph' && this.#writer.isInItem);
    return this.#inline.take({kind, isJoined});
  }

  #endParagraph(): void {
    const text = this.#takeInline('paragraph');
    if (text !== '') this.#writer.write('paragraph', text);
  }

  #endTable(): void {
    if (this.#table === undefined) return;
    const table = this.#table.render();
    // D9: the caption is a paragraph before.
    if (this.#caption !== '') this.#writer.write('paragraph', this.#caption);
    if (table !== '') this.#writer.write('table', table);
    this.#table = undefined;
    this.#caption = '';
  }

  #endPreformatted(): void {
    const {content = '', language = ''} = this.#preformatted ?? {};
    this.#preformatted = undefined;
    this.#preformattedNode = NONE;
    if (content.trim() !== '') this.#writer.write('fence', codeFence(content, language));
  }
}

interface List {
  readonly isOrdered: boolean;
  next: number;
}

const MAX_NUMBER = 999_999_999;

/** The open lists: how deep an item is (D6) and what marks it. */
class ListLevels {
  #lists: List[] = [];
  readonly #outside: List[][] = [];

  /** The number of lists around the innermost one. */
  get level(): number {
    return Math.max(0, this.#lists.length - 1);
  }

  open(isOrdered: boolean, start: string | undefined): void {
    this.#lists.push({isOrdered, next: startNumber(start)});
  }

  close(): void {
    this.#lists.pop();
  }

  nextMarker(): string {
    const list = this.#lists.at(-1);
    return list?.isOrdered ? `${list.next++}. ` : '- ';
  }

  /** Inside a block quote, which is indented itself, lists count from there. */
  enterQuote(): void {
    this.#outside.push(this.#lists);
    this.#lists = [];
  }

  leaveQuote(): void {
    this.#lists = this.#outside.pop() ?? [];
  }
}

// D6: `ol` honours `start`, as far as CommonMark has such numbers.
function startNumber(start: string | undefined): number {
  const digits = /^[ \t\n\f\r]*\+?(\d{1,9})/.exec(start ?? '1')?.[1];
  return Math.min(Number(digits ?? 1), MAX_NUMBER);
}

/** One wide row above many short ones must not make a table of their product. */
const PADDING_PER_CELL = 8;
const FREE_PADDING = 10_000;

/** FR-WF-EXT-TABLE-01: collects the cells of a table and writes them as a pipe table. */
class TableBuilder {
  readonly #rows: string[][] = [];
  #headerRow = -1;
  #isRowOpen = false;
  /** Of each column the rows below that a cell above takes. */
  readonly #taken: number[] = [];
  #hasText = false;
  #width = 0;
  #cells = 0;
  /** Cells that are there because others span them. */
  #spanned = 0;
  #paddingLeft = 0;

  startRow(): void {
    this.#isRowOpen = false;
  }

  /** Adds a cell; `text` is inline Markdown of one line. R2: of one that spans others, the text stands in the first. */
  addCell(text: string, isHeader: boolean, span?: CellSpan): void {
    if (!this.#isRowOpen) {
      this.#rows.push([]);
      this.#isRowOpen = true;
    }
    const row = this.#rows.at(-1);
    if (row === undefined) return;
    // Rule 2: the first row with a header cell.
    if (isHeader && this.#headerRow === -1) this.#headerRow = this.#rows.length - 1;
    this.#skipTaken(row);
    const column = row.length;
    // Rules 4 and 5.
    row.push(text.replaceAll('\n', ' ').replaceAll('|', '\\|'));
    if (span) this.#addSpan(row, column, span);
    this.#hasText ||= text !== '';
    this.#width = Math.max(this.#width, row.length);
    this.#cells++;
  }

  #skipTaken(row: string[]): void {
    while ((this.#taken[row.length] ?? 0) > 0) {
      this.#taken[row.length] = (this.#taken[row.length] ?? 0) - 1;
      row.push('');
    }
  }

  #addSpan(row: string[], column: number, {columns, rows}: CellSpan): void {
    const left = this.#cells * PADDING_PER_CELL + FREE_PADDING - this.#spanned;
    if (columns * rows > left) return;
    this.#spanned += columns * rows;
    for (let at = column; at < column + columns; at++) {
      if (at > column) row.push('');
      if (rows > 1) this.#taken[at] = rows - 1;
    }
  }

  /** The pipe table, or `''` where no cell has text. */
  render(): string {
    if (!this.#hasText) return '';
    this.#paddingLeft = this.#cells * PADDING_PER_CELL + FREE_PADDING;
    const header = Math.max(this.#headerRow, 0);
    const lines = [this.#line(this.#rows[header] ?? []), `|${'---|'.repeat(this.#width)}`];
    for (const [index, row] of this.#rows.entries()) {
      if (index !== header) lines.push(this.#line(row));
    }
    return lines.join('\n');
  }

  // D9: padded to the widest row. GFM reads a shorter row the same way.
  #line(row: readonly string[]): string {
    let line = '|';
    for (const cell of row) line += cell === '' ? ' |' : ` ${cell} |`;
    const missing = Math.min(this.#width - row.length, this.#paddingLeft);
    this.#paddingLeft -= missing;
    return line + ' |'.repeat(missing);
  }
}

const LANGUAGE = /(?:^|[ \t\n\f\r])(?:lang(?:uage)?|highlight-source)-([\w+#.-]{1,40})(?![^ \t\n\f\r])/;

/** FR-WF-EXT-CODE-01, D11: the text of a `pre`, literally, and the language that its classes name. */
class PreformattedText {
  readonly #parts: string[] = [];
  #endsLine = true;
  /** Line ends that are not text of the page; at the end of the `pre` they show nothing. */
  #pendingLineEnds = 0;
  #codeLanguage = '';
  readonly #outerLanguage: string;
  readonly #isForReading: boolean;

  /** `isForReading`: in the form of R2, with the language however it is named and without empty lines at the end. */
  constructor(tree: Tree, pre: number, isForReading: boolean) {
    this.#isForReading = isForReading;
    this.#outerLanguage =
      languageOf(tree, pre) ||
      languageOf(tree, tree.parent(pre)) ||
      (isForReading ? languageAround(tree, pre) : '');
  }

  /** References bring characters that the parser's input has no more: line ends are LF here, and a form feed is invisible (D8). */
  addText(raw: string): void {
    const text = /[\r\f]/.test(raw) ? raw.replace(/\r\n?/g, '\n').replaceAll('\f', '') : raw;
    if (text === '') return;
    if (this.#pendingLineEnds > 0) this.#parts.push('\n'.repeat(this.#pendingLineEnds));
    this.#pendingLineEnds = 0;
    this.#parts.push(text);
    this.#endsLine = text.endsWith('\n');
  }

  enter(tree: Tree, node: number, role: number): void {
    if (role === ROLE.lineBreak) this.#endLine();
    else this.leave(role);
    if (role === ROLE.code || role === ROLE.preformatted) {
      this.#codeLanguage ||= languageOf(tree, node);
      if (this.#isForReading && this.#outerLanguage === '') this.#codeLanguage ||= languageOn(tree, node);
    }
  }

  /** Highlighters put each line into a block of its own: blocks begin and end lines. */
  leave(role: number): void {
    if (!this.#endsLine && !isInlineRole(role) && role !== ROLE.cell) this.#endLine();
  }

  /** D5: what `code` says, else what `pre` and its parent say. */
  get language(): string {
    return this.#codeLanguage || this.#outerLanguage;
  }

  get content(): string {
    const text = visibleText(this.#parts.join(''));
    return this.#isForReading ? text.trimEnd() : text;
  }

  #endLine(): void {
    this.#pendingLineEnds++;
    this.#endsLine = true;
  }
}

function languageOf(tree: Tree, node: number): string {
  return LANGUAGE.exec(tree.attribute(node, ATTRIBUTE.class) ?? '')?.[1] ?? '';
}

/**
 * How MediaWiki, SyntaxHighlighter, Pandoc, highlight.js, Sphinx and Sandpack name the language of code. The last class
 * of highlight.js and Pandoc is one only beside the other one.
 */
const IN_CLASS = [
  /(?:^|\s)mw-highlight-lang-([\w+#.-]{1,40})(?!\S)/,
  /(?:^|\s)brush:\s*([\w+#.-]{1,40})/,
  /(?:^|\s)(?:sourceCode|hljs)\s+([\w+#.-]{1,40})\s*$/,
  /(?:^|\s)highlight-([\w+#.]{1,40})\s+notranslate(?!\S)/,
  /(?:^|\s)sp-(javascript|typescript|html|css|json)(?!\S)/,
];
/** Names of no language. */
const NO_LANGUAGE =
  /^(?:copyable|default|highlight|literal|none|no-?highlight|notranslate|plain|plaintext|text|txt)$/i;
/** More than any page needs, and little enough to be looked at once for each of a thousand elements inside. */
const MOST_UNITS = 300;
/** Sphinx names it two elements further out. */
const LEVELS = 3;

/** R2: the language that a `pre` or an element around it names; '' where none does. */
function languageAround(tree: Tree, pre: number): string {
  let node = pre;
  for (let level = 0; level < LEVELS && node !== NONE; level++) {
    const named = languageOn(tree, node);
    if (named !== '') return named;
    node = tree.parent(node);
  }
  return '';
}

/** R2: the language that an element itself names; '' where it names none. */
function languageOn(tree: Tree, node: number): string {
  const named = nameOn(tree, node);
  return NO_LANGUAGE.test(named) ? '' : named;
}

function nameOn(tree: Tree, node: number): string {
  const given =
    tree.attribute(node, ATTRIBUTE['data-lang']) ?? tree.attribute(node, ATTRIBUTE['data-language']);
  if (given !== undefined && /^[\w+#.-]{1,40}$/.test(given)) return given;
  const names = tree.attribute(node, ATTRIBUTE.class)?.slice(0, MOST_UNITS) ?? '';
  for (const pattern of names === '' ? [] : IN_CLASS) {
    const language = pattern.exec(names)?.[1];
    if (language !== undefined) return language;
  }
  return '';
}
