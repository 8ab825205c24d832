import {isWhiteSpace} from '../../chunk/white-space.ts';
import {isWordAt} from './is-word-at.ts';
import {linkTargetEnd} from './link-target-end.ts';
import {SYNTAX} from './syntax.ts';

const PUNCTUATION = /[!-/:-@[-`{-~]/;
const AUTOLINK = /^<[a-z][a-z0-9+.-]{1,31}:/i;
const AUTOLINK_UNITS = 40;

interface Bracket {
  readonly at: number;
  readonly isPicture: boolean;
}

/** Marks the inline syntax of `[from, to)`, which lies in one block. Linear in its length. */
export function markInline(markdown: string, from: number, to: number, marks: Uint8Array): void {
  const brackets: Bracket[] = [];
  let spans: CodeSpans | undefined;
  for (let at = from; at < to; ) {
    if (marks[at] === SYNTAX.block) {
      at += 1;
      continue;
    }
    switch (markdown[at]) {
      case '\\':
        if (at + 1 < to && PUNCTUATION.test(markdown.charAt(at + 1))) {
          marks[at] = SYNTAX.inline;
          at += 1;
        }
        at += 1;
        break;
      case '`': {
        spans ??= new CodeSpans(markdown, from, to);
        const length = runLength(markdown, at, to);
        const close = spans.closing(at + length, length);
        if (close !== undefined) {
          marks.fill(SYNTAX.inline, at, at + length);
          marks.fill(SYNTAX.inline, close, close + length);
          at = close;
        }
        at += length;
        break;
      }
      case '!':
        if (markdown[at + 1] === '[' && at + 1 < to) {
          brackets.push({at, isPicture: true});
          at += 1;
        }
        at += 1;
        break;
      case '[':
        brackets.push({at, isPicture: false});
        at += 1;
        break;
      case ']':
        at = closeBracket(markdown, brackets.pop(), at, to, marks);
        break;
      case '<': {
        const end = autolinkEnd(markdown, at, to);
        if (end !== undefined) {
          marks[at] = SYNTAX.inline;
          marks[end - 1] = SYNTAX.inline;
        }
        at = end ?? at + 1;
        break;
      }
      case '*':
      case '_':
      case '~': {
        const length = runLength(markdown, at, to);
        if (isStyle(markdown, at, length, from, to)) marks.fill(SYNTAX.inline, at, at + length);
        at += length;
        break;
      }
      default:
        at += 1;
    }
  }
}

/** Marks a link or picture that ends here, and says where to go on. */
function closeBracket(
  markdown: string,
  bracket: Bracket | undefined,
  at: number,
  to: number,
  marks: Uint8Array,
): number {
  if (bracket === undefined) return at + 1;
  const end = linkTargetEnd(markdown, at + 1, to);
  const {at: open, isPicture} = bracket;
  const textStart = open + (isPicture ? 2 : 1);
  if (isPicture) {
    const isBare = end !== undefined && textStart === at;
    marks.fill(isBare ? SYNTAX.link : SYNTAX.block, open, textStart);
    marks[at] = isBare ? SYNTAX.link : SYNTAX.block;
    if (end !== undefined) marks.fill(SYNTAX.link, at + 1, end);
  } else if (end !== undefined) {
    marks[open] = SYNTAX.link;
    marks.fill(SYNTAX.link, at, end);
  }
  return end ?? at + 1;
}

/**
 * Whether a run of marks can be emphasis or strike-through. Between two letters it counts as text, whatever
 * CommonMark makes of it: what is marked may be left out of a comparison, and no two words become one.
 */
function isStyle(markdown: string, at: number, length: number, from: number, to: number): boolean {
  if (markdown[at] === '~' && length !== 2) return false;
  const end = at + length;
  const isOpenBefore = at === from || isWhiteSpace(markdown.charCodeAt(at - 1));
  const isOpenBehind = end >= to || isWhiteSpace(markdown.charCodeAt(end));
  if (isOpenBefore && isOpenBehind) return false;
  return isOpenBefore || isOpenBehind || !(isWordAt(markdown, at - 1) && isWordAt(markdown, end));
}

function autolinkEnd(markdown: string, at: number, to: number): number | undefined {
  if (!AUTOLINK.test(markdown.slice(at, at + AUTOLINK_UNITS))) return undefined;
  for (let end = at + 1; end < to; end += 1) {
    const unit = markdown.charCodeAt(end);
    if (unit === 0x3e) return end + 1;
    if (unit === 0x3c || isWhiteSpace(unit)) return undefined;
  }
  return undefined;
}

function runLength(markdown: string, at: number, to: number): number {
  const mark = markdown.charCodeAt(at);
  let end = at + 1;
  while (end < to && markdown.charCodeAt(end) === mark) end += 1;
  return end - at;
}

/** The runs of backticks of a stretch, so that each is looked at once however many find no partner. */
class CodeSpans {
  /** Length of a run → where runs of that length start, the last one first. */
  readonly #runs = new Map<number, number[]>();

  constructor(markdown: string, from: number, to: number) {
    const found: [at: number, length: number][] = [];
    for (let at = markdown.indexOf('`', from); at >= 0 && at < to; at = markdown.indexOf('`', at)) {
      const length = runLength(markdown, at, to);
      found.push([at, length]);
      at += length;
    }
    for (const [at, length] of found.reverse()) {
      const runs = this.#runs.get(length);
      if (runs) runs.push(at);
      else this.#runs.set(length, [at]);
    }
  }

  /** The first run of `length` from `from` on. Asked for in rising order only. */
  closing(from: number, length: number): number | undefined {
    const runs = this.#runs.get(length) ?? [];
    while (runs.length > 0 && (runs.at(-1) ?? 0) < from) runs.pop();
    return runs.at(-1);
  }
}
