// Collects the inline content of a block while the tree is walked.

import type {LinkTargets} from '../link-targets.ts';
import type {InsteadOfNode} from '../tree/element-facts.ts';
import {ROLE} from '../tree/tags.ts';
import {collapseBlanks, visibleText} from '../tree/visible-text.ts';
import {EMPHASIS, InlineBuffer, NO_LINK, STRONG, STRUCK} from './inline-buffer.ts';
import {type InlineContext, renderInline} from './render-inline.ts';

export type Style = typeof EMPHASIS | typeof STRONG | typeof STRUCK;

/** The style of an element that has one, by its role. */
export function styleOf(role: number): Style {
  return role === ROLE.emphasis ? EMPHASIS : role === ROLE.strong ? STRONG : STRUCK;
}

/** The inline elements that are open, and what has been collected of the block they are in. */
export class InlineContent {
  readonly #buffer = new InlineBuffer();
  readonly #targets: LinkTargets;
  /** Open elements of each style. */
  readonly #depths = {[EMPHASIS]: 0, [STRONG]: 0, [STRUCK]: 0};
  #style = 0;
  #link = NO_LINK;
  #codeDepth = 0;
  /** The text of the open `code` so far; a link inside divides it. */
  #code = '';

  constructor(targets: LinkTargets) {
    this.#targets = targets;
  }

  addText(text: string): void {
    if (this.#codeDepth > 0) this.#code += text;
    else this.#buffer.text(text, this.#style, this.#link);
  }

  blank(): void {
    if (this.#codeDepth > 0) this.#code += ' ';
    else this.#buffer.blank(this.#style, this.#link);
  }

  lineBreak(): void {
    if (this.#codeDepth > 0) this.#code += ' ';
    else this.#buffer.lineBreak(this.#style, this.#link);
  }

  get endsWithLineBreak(): boolean {
    return this.#buffer.endsWithLineBreak;
  }

  changeStyle(style: Style, by: 1 | -1): void {
    this.#depths[style] += by;
    // Code has the style of its start.
    if (this.#codeDepth === 0) this.#updateStyle();
  }

  enterCode(): void {
    this.#codeDepth++;
  }

  leaveCode(): void {
    this.#codeDepth--;
    if (this.#codeDepth > 0) return;
    this.#endCode();
    this.#updateStyle();
  }

  /** A formula as GitLab and GitHub write it, in which no sign is an escape. */
  addInstead(instead: InsteadOfNode | undefined): void {
    if (instead === undefined) return;
    const {kind, text} = instead;
    if (kind === 'text') {
      this.addText(text);
      return;
    }
    this.addText('$');
    this.enterCode();
    this.addText(text);
    this.leaveCode();
    this.addText('$');
  }

  /** False where the address makes no link, or a link is open already. */
  openLink(href: string | undefined): boolean {
    if (href === undefined || this.#link !== NO_LINK) return false;
    const target = this.#targets.resolve(href);
    if (target === undefined) return false;
    this.#endCode();
    this.#link = this.#buffer.openLink(target);
    return true;
  }

  closeLink(): void {
    this.#endCode();
    this.#link = NO_LINK;
  }

  // FR-WF-13a: only with an alternative text. D7: an unusable source leaves that text.
  addImage(alternative: string | undefined, source: string | undefined): void {
    const alt = collapseBlanks(visibleText(alternative ?? '')).trim();
    if (alt === '') return;
    const address = source?.trim();
    const target = address && this.#codeDepth === 0 ? this.#targets.resolve(address) : undefined;
    if (target === undefined) this.addText(alt);
    else this.#buffer.image(alt, target, this.#style, this.#link);
  }

  /** The Markdown of what has been collected; the next block starts with the same elements open. */
  take(context: InlineContext): string {
    this.#endCode();
    const text = this.#buffer.isEmpty ? '' : renderInline(this.#buffer, context);
    this.#buffer.clear();
    return text;
  }

  #endCode(): void {
    if (this.#code === '') return;
    this.#buffer.code(this.#code, this.#style, this.#link);
    this.#code = '';
  }

  #updateStyle(): void {
    let style = 0;
    if (this.#depths[EMPHASIS] > 0) style |= EMPHASIS;
    if (this.#depths[STRONG] > 0) style |= STRONG;
    if (this.#depths[STRUCK] > 0) style |= STRUCK;
    this.#style = style;
  }
}
