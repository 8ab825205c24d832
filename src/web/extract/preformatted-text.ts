import {ATTRIBUTE} from './attribute.ts';
import {BEHAVIOUR} from './behaviour.ts';
import type {Tree} from './tree.ts';
import {visibleText} from './visible-text.ts';

const LANGUAGE = /(?:^|[ \t\n\f\r])lang(?:uage)?-([\w+#.-]{1,40})(?![^ \t\n\f\r])/;

const INLINE_LIKE: ReadonlySet<number> = new Set([
  BEHAVIOUR.inline,
  BEHAVIOUR.emphasis,
  BEHAVIOUR.strong,
  BEHAVIOUR.struck,
  BEHAVIOUR.code,
  BEHAVIOUR.link,
  BEHAVIOUR.image,
  BEHAVIOUR.lineBreak,
  BEHAVIOUR.cell,
]);

/** FR-WF-EXT-CODE-01, D11: the text of a `pre`, literally, and the language that its classes name. */
export class PreformattedText {
  readonly #parts: string[] = [];
  #endsLine = true;
  /** Line ends that are not text of the page; at the end of the `pre` they show nothing. */
  #pendingLineEnds = 0;
  language = '';

  addText(text: string): void {
    if (text === '') return;
    if (this.#pendingLineEnds > 0) this.#parts.push('\n'.repeat(this.#pendingLineEnds));
    this.#pendingLineEnds = 0;
    this.#parts.push(text);
    this.#endsLine = text.endsWith('\n');
  }

  enter(tree: Tree, node: number, behaviour: number): void {
    if (behaviour === BEHAVIOUR.lineBreak) this.#endLine();
    else this.leave(behaviour);
    if (behaviour !== BEHAVIOUR.code && behaviour !== BEHAVIOUR.preformatted) return;
    this.language ||= LANGUAGE.exec(tree.attribute(node, ATTRIBUTE.class) ?? '')?.[1] ?? '';
  }

  /** Highlighters put each line into a block of its own: blocks begin and end lines. */
  leave(behaviour: number): void {
    if (!this.#endsLine && !INLINE_LIKE.has(behaviour)) this.#endLine();
  }

  get content(): string {
    return visibleText(this.#parts.join(''));
  }

  #endLine(): void {
    this.#pendingLineEnds++;
    this.#endsLine = true;
  }
}
