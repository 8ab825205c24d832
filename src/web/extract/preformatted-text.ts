import {ATTRIBUTE} from './tree/attribute.ts';
import {isInlineRole, ROLE} from './tree/element-role.ts';
import type {Tree} from './tree/tree.ts';
import {visibleText} from './tree/visible-text.ts';
import {languageAround, languageOn} from './tree/written-language.ts';

const LANGUAGE = /(?:^|[ \t\n\f\r])(?:lang(?:uage)?|highlight-source)-([\w+#.-]{1,40})(?![^ \t\n\f\r])/;

/** FR-WF-EXT-CODE-01, D11: the text of a `pre`, literally, and the language that its classes name. */
export class PreformattedText {
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
