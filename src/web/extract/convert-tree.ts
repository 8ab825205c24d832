import {BlockWriter} from './block-writer.ts';
import {codeFence} from './code-fence.ts';
import {EMPHASIS, STRONG, STRUCK} from './inline/inline-buffer.ts';
import {InlineContent} from './inline/inline-content.ts';
import type {InlineContext} from './inline/render-inline.ts';
import type {LinkTargets} from './link-targets.ts';
import {ListLevels} from './list-levels.ts';
import {PreformattedText} from './preformatted-text.ts';
import type {Survey} from './survey-document.ts';
import {TableBuilder} from './table-builder.ts';
import {ATTRIBUTE} from './tree/attribute.ts';
import {BEHAVIOUR, behaviourOf} from './tree/behaviour.ts';
import {TAG} from './tree/tag.ts';
import {NONE, type Tree} from './tree/tree.ts';

/** FR-WF-13a: the Markdown of what is inside `root`, without what the survey removed. */
export function convertTree(tree: Tree, root: number, survey: Survey, targets: LinkTargets): string {
  return new Converter(tree, survey, targets).convert(root);
}

class Converter {
  readonly #tree: Tree;
  readonly #survey: Survey;
  readonly #inline: InlineContent;
  readonly #writer = new BlockWriter();
  readonly #lists = new ListLevels();
  /** The open elements in which blocks are flattened to text: heading, link, cell, caption, term. */
  readonly #flatteners: number[] = [];
  /** Those of them in which a line break is a space (D11): all but links. */
  #oneLiners = 0;
  #table: TableBuilder | undefined;
  #caption = '';
  #preformatted: PreformattedText | undefined;
  #preformattedNode = NONE;

  constructor(tree: Tree, survey: Survey, targets: LinkTargets) {
    this.#tree = tree;
    this.#survey = survey;
    this.#inline = new InlineContent(targets);
  }

  convert(root: number): string {
    const tree = this.#tree;
    let node = tree.firstChild(root);
    while (node !== NONE) {
      if (this.#survey.removed[node] !== 1) {
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
    return this.#writer.toString();
  }

  #addText(text: string): void {
    if (this.#preformatted) this.#preformatted.addText(text);
    else this.#inline.addText(text);
  }

  #enter(node: number): void {
    const tag = this.#tree.tag(node);
    const behaviour = behaviourOf(tag);
    if (this.#preformatted) this.#preformatted.enter(this.#tree, node, behaviour);
    else if (!this.#enterInline(node, behaviour)) {
      if (this.#flatteners.length > 0) this.#enterFlattened(behaviour);
      else this.#enterBlock(node, tag, behaviour);
    }
  }

  #leave(node: number): void {
    const tag = this.#tree.tag(node);
    const behaviour = behaviourOf(tag);
    if (this.#preformatted) {
      if (node === this.#preformattedNode) this.#endPreformatted();
      else this.#preformatted.leave(behaviour);
    } else if (!this.#leaveInline(node, behaviour)) {
      if (this.#flatteners.at(-1) === node) this.#leaveFlattener(tag, behaviour);
      else if (this.#flatteners.length > 0) this.#leaveFlattened(behaviour);
      else this.#leaveBlock(behaviour);
    }
  }

  /** False for what is not inline. */
  #enterInline(node: number, behaviour: number): boolean {
    switch (behaviour) {
      case BEHAVIOUR.inline:
        return true;
      case BEHAVIOUR.emphasis:
        this.#inline.changeStyle(EMPHASIS, 1);
        return true;
      case BEHAVIOUR.strong:
        this.#inline.changeStyle(STRONG, 1);
        return true;
      case BEHAVIOUR.struck:
        this.#inline.changeStyle(STRUCK, 1);
        return true;
      case BEHAVIOUR.code:
        this.#inline.enterCode();
        return true;
      case BEHAVIOUR.link:
        // D5: block children of a link are flattened.
        if (this.#inline.openLink(this.#tree.attribute(node, ATTRIBUTE.href))) this.#flatteners.push(node);
        return true;
      case BEHAVIOUR.image:
        this.#inline.addImage(
          this.#tree.attribute(node, ATTRIBUTE.alt),
          this.#tree.attribute(node, ATTRIBUTE.src),
        );
        return true;
      case BEHAVIOUR.lineBreak:
        this.#addLineBreak();
        return true;
      default:
        return false;
    }
  }

  #leaveInline(node: number, behaviour: number): boolean {
    switch (behaviour) {
      case BEHAVIOUR.inline:
      case BEHAVIOUR.image:
      case BEHAVIOUR.lineBreak:
        return true;
      case BEHAVIOUR.emphasis:
        this.#inline.changeStyle(EMPHASIS, -1);
        return true;
      case BEHAVIOUR.strong:
        this.#inline.changeStyle(STRONG, -1);
        return true;
      case BEHAVIOUR.struck:
        this.#inline.changeStyle(STRUCK, -1);
        return true;
      case BEHAVIOUR.code:
        this.#inline.leaveCode();
        return true;
      case BEHAVIOUR.link:
        if (this.#flatteners.at(-1) === node) {
          this.#inline.closeLink();
          this.#flatteners.pop();
        }
        return true;
      default:
        return false;
    }
  }

  #enterBlock(node: number, tag: number, behaviour: number): void {
    this.#endParagraph();
    switch (behaviour) {
      case BEHAVIOUR.heading:
        this.#flatten(node);
        break;
      case BEHAVIOUR.list:
        this.#writer.openList();
        this.#lists.open(tag === TAG.ol, this.#tree.attribute(node, ATTRIBUTE.start));
        break;
      case BEHAVIOUR.item:
        this.#writer.openItem(this.#lists.level, this.#lists.nextMarker());
        break;
      case BEHAVIOUR.quote:
        this.#writer.openQuote();
        this.#lists.enterQuote();
        break;
      case BEHAVIOUR.preformatted:
        this.#preformatted = new PreformattedText(this.#tree, node);
        this.#preformattedNode = node;
        break;
      case BEHAVIOUR.rule:
        this.#writer.write('rule', '---');
        break;
      case BEHAVIOUR.table:
        if (!this.#survey.layoutTables.has(node)) this.#table = new TableBuilder();
        break;
      case BEHAVIOUR.row:
        this.#table?.startRow();
        break;
      case BEHAVIOUR.cell:
      case BEHAVIOUR.caption:
        if (this.#table) this.#flatten(node);
        break;
      case BEHAVIOUR.term:
        this.#flatten(node);
        this.#inline.changeStyle(STRONG, 1);
        break;
    }
  }

  #leaveBlock(behaviour: number): void {
    this.#endParagraph();
    switch (behaviour) {
      case BEHAVIOUR.list:
        this.#lists.close();
        this.#writer.closeList();
        break;
      case BEHAVIOUR.item:
        this.#writer.closeItem();
        break;
      case BEHAVIOUR.quote:
        this.#lists.leaveQuote();
        this.#writer.closeQuote();
        break;
      case BEHAVIOUR.table:
        this.#endTable();
        break;
    }
  }

  #enterFlattened(behaviour: number): void {
    this.#inline.blank();
    if (behaviour === BEHAVIOUR.preformatted) this.#inline.enterCode();
  }

  #leaveFlattened(behaviour: number): void {
    if (behaviour === BEHAVIOUR.preformatted) this.#inline.leaveCode();
    this.#inline.blank();
  }

  #flatten(node: number): void {
    this.#flatteners.push(node);
    this.#oneLiners++;
  }

  #leaveFlattener(tag: number, behaviour: number): void {
    this.#flatteners.pop();
    this.#oneLiners--;
    switch (behaviour) {
      case BEHAVIOUR.heading: {
        const text = this.#takeInline('heading');
        if (text !== '') this.#writer.write('heading', `${'#'.repeat(tag - TAG.h1 + 1)} ${text}`);
        break;
      }
      case BEHAVIOUR.cell:
        this.#table?.addCell(this.#takeInline('cell'), tag === TAG.th);
        break;
      case BEHAVIOUR.caption:
        this.#caption = this.#takeInline('paragraph');
        break;
      case BEHAVIOUR.term:
        this.#inline.changeStyle(STRONG, -1);
        this.#endParagraph();
        break;
    }
  }

  /** D11: a space where there is one line only; two in a row end the paragraph. */
  #addLineBreak(): void {
    if (this.#oneLiners > 0) this.#inline.blank();
    else if (this.#inline.endsWithLineBreak && this.#flatteners.length === 0) this.#endParagraph();
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
