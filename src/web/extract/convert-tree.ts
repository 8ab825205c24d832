import type {BlockWriter} from './block-writer.ts';
import {codeFence} from './code-fence.ts';
import {STRONG} from './inline/inline-buffer.ts';
import {InlineContent, styleOf} from './inline/inline-content.ts';
import type {InlineContext} from './inline/render-inline.ts';
import type {LinkTargets} from './link-targets.ts';
import {ListLevels} from './list-levels.ts';
import {PreformattedText} from './preformatted-text.ts';
import type {DocumentScan} from './scan-document.ts';
import {TableBuilder} from './table-builder.ts';
import {ATTRIBUTE} from './tree/attribute.ts';
import {cellSpanOf} from './tree/cell-span.ts';
import {roleIn} from './tree/document-form.ts';
import {ROLE} from './tree/element-role.ts';
import {pictureSource} from './tree/picture-source.ts';
import {TAG} from './tree/tag.ts';
import {NONE, type Tree} from './tree/tree.ts';

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
