import {linkTarget} from '../link-target.ts';
import {element, type Markup} from '../markup.ts';

/** Deeper emphasis stays as it is written. */
const DEEPEST = 16;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const EMPHASIS = {'*': 'em', _: 'em', '**': 'strong', __: 'strong', '~~': 'del'} as const;
const ENTITIES: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0'};
const PLAIN = /[^\\`*_~[\]!<&\n]+/y;
const AUTOLINK = /<(https?:\/\/[^\s<>]{1,2000})>/y;
const ENTITY = /&(?:(amp|lt|gt|quot|nbsp)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));/y;
const DESTINATION =
  /\(\s{0,9}(?:<([^<>\n]{0,4000})>|([^\s()<]{0,4000}(?:\([^\s()]{0,500}\)[^\s()]{0,500}){0,9}))(?:\s{1,9}(?:"[^"\n]{0,1000}"|'[^'\n]{0,1000}'))?\s{0,9}\)/y;

type Delimiter = keyof typeof EMPHASIS;

interface Item {
  readonly markup: Markup;
  readonly depth: number;
}

/**
 * Text of a paragraph, with the emphasis, code, links and escapes of Markdown. HTML in it is text, images
 * are links: nothing of a page is loaded. Linear: what has opened and never closes stays a text.
 */
export function renderInline(text: string): readonly Markup[] {
  const items: Item[] = [];
  const openers = new Map<Delimiter | '[', number[]>();
  const backticks = new BacktickRuns(text);
  const push = (markup: Markup, depth = 0): void => void items.push({markup, depth});
  const openersOf = (kind: Delimiter | '['): number[] => {
    const found = openers.get(kind) ?? [];
    openers.set(kind, found);
    return found;
  };

  for (let at = 0; at < text.length; ) {
    const plain = match(PLAIN, text, at);
    if (plain) {
      push(plain[0]);
      at += plain[0].length;
      continue;
    }
    const character = text.charAt(at);
    at = step(character, at);
  }
  return items.map(({markup}) => markup);

  /** Handles the sign at `at` and says where to go on. */
  function step(character: string, at: number): number {
    switch (character) {
      case '\\':
        return escaped(at);
      case '`':
        return code(at);
      case '\n':
        return lineEnd(at);
      case '[':
        openersOf('[').push(items.length);
        push('[');
        return at + 1;
      case '!':
        if (text[at + 1] !== '[') break;
        openersOf('[').push(items.length);
        push('![');
        return at + 2;
      case ']':
        return link(at);
      case '<': {
        const found = match(AUTOLINK, text, at);
        if (!found) break;
        push(anchor([found[1] ?? ''], found[1] ?? ''));
        return at + found[0].length;
      }
      case '&': {
        const found = match(ENTITY, text, at);
        if (!found) break;
        push(decode(found));
        return at + found[0].length;
      }
      case '*':
      case '_':
      case '~':
        return emphasis(character, at);
    }
    push(character);
    return at + 1;
  }

  function escaped(at: number): number {
    const next = text.charAt(at + 1);
    if (next === '\n') push(element('br'));
    else push(PUNCTUATION.test(next) ? next : '\\');
    return at + (next === '\n' || PUNCTUATION.test(next) ? 2 : 1);
  }

  function lineEnd(at: number): number {
    const last = items.at(-1);
    const isBreak = typeof last?.markup === 'string' && last.markup.endsWith('  ');
    push(isBreak ? element('br') : '\n');
    return at + 1;
  }

  function code(at: number): number {
    const {length, end} = backticks.at(at);
    if (end === undefined) {
      push(text.slice(at, at + length));
      return at + length;
    }
    const inner = text.slice(at + length, end).replaceAll('\n', ' ');
    const isPadded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
    push(element('code', {}, isPadded ? inner.slice(1, -1) : inner));
    return end + length;
  }

  function link(at: number): number {
    const start = openersOf('[').pop();
    const found = start === undefined ? null : match(DESTINATION, text, at + 1);
    if (start === undefined || !found) {
      push(']');
      return at + 1;
    }
    const isImage = items[start]?.markup === '![';
    const {children, depth} = take(start);
    const destination = (found[1] ?? found[2] ?? '').replace(/\\([!-/:-@[-`{-~])/g, '$1');
    push(anchor(isImage ? ['Image: ', ...children] : children, destination), depth);
    // A link has no links in it.
    if (!isImage) openersOf('[').length = 0;
    return at + 1 + found[0].length;
  }

  function emphasis(character: string, at: number): number {
    let run = 1;
    while (text[at + run] === character) run += 1;
    const before = text[at - 1] ?? ' ';
    const after = text[at + run] ?? ' ';
    const canOpen = !/\s/.test(after) && (character !== '_' || !/\w/.test(before));
    const canClose = !/\s/.test(before) && (character !== '_' || !/\w/.test(after));
    let left = run;
    while (left > 0 && canClose) {
      const closed = close(character, left);
      if (closed === 0) break;
      left -= closed;
    }
    while (left > 0) {
      const delimiter = character.repeat(Math.min(left, 2));
      if (canOpen && isDelimiter(delimiter)) openersOf(delimiter).push(items.length);
      push(delimiter);
      left -= delimiter.length;
    }
    return at + run;
  }

  /** Closes what was opened last by one or two of the character, and says how many it used up. */
  function close(character: string, left: number): number {
    const [delimiter] = [character, character.repeat(2)]
      .filter(isDelimiter)
      .filter(({length}) => length <= left)
      .sort((one, other) => lastOf(other) - lastOf(one));
    const start = delimiter === undefined ? -1 : lastOf(delimiter);
    // Right behind itself it has nothing to emphasise.
    if (delimiter === undefined || start === -1 || start === items.length - 1) return 0;
    const depth = items.slice(start + 1).reduce((deepest, item) => Math.max(deepest, item.depth), 0);
    if (depth >= DEEPEST) {
      // Nothing is looked through twice.
      openersOf(delimiter).length = 0;
      return 0;
    }
    const {children} = take(start);
    push([EMPHASIS[delimiter], {}, children], depth + 1);
    return delimiter.length;
  }

  function lastOf(delimiter: Delimiter): number {
    return openersOf(delimiter).at(-1) ?? -1;
  }

  /** Takes the opener and all behind it off the list, and forgets the openers among them. */
  function take(start: number): {readonly children: readonly Markup[]; readonly depth: number} {
    const [, ...inner] = items.splice(start);
    for (const stack of openers.values()) while ((stack.at(-1) ?? -1) >= start) stack.pop();
    return {
      children: inner.map(({markup}) => markup),
      depth: inner.reduce((deepest, item) => Math.max(deepest, item.depth), 0),
    };
  }
}

/** A link that shows where it goes; what may not be followed is text. */
function anchor(children: readonly Markup[], destination: string): Markup {
  const href = linkTarget(destination);
  const shown = children.every(child => typeof child === 'string') ? children.join('') : undefined;
  const where: readonly Markup[] =
    shown === destination ? [] : [' ', element('span', {class: 'target'}, `⟨${destination.slice(0, 300)}⟩`)];
  return href === undefined
    ? ['span', {}, [...children, ...where]]
    : ['span', {}, [['a', {href, title: destination}, children], ...where]];
}

function decode([whole, name, decimal, hexadecimal]: RegExpExecArray): string {
  if (name !== undefined) return ENTITIES[name] ?? whole;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

function isDelimiter(text: string): text is Delimiter {
  return Object.hasOwn(EMPHASIS, text);
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Which run of backticks ends the code that one opens: the next of the same length. Asked in order. */
class BacktickRuns {
  readonly #text: string;
  /** Length of a run → where runs of it begin, the next one last. */
  readonly #starts = new Map<number, number[]>();

  constructor(text: string) {
    this.#text = text;
    for (const {0: run, index} of [...text.matchAll(/`+/g)].reverse()) {
      const starts = this.#starts.get(run.length);
      if (starts) starts.push(index);
      else this.#starts.set(run.length, [index]);
    }
  }

  at(index: number): {readonly length: number; readonly end: number | undefined} {
    // Its first one may have been escaped, so it is counted from here.
    let length = 1;
    while (this.#text[index + length] === '`') length += 1;
    const starts = this.#starts.get(length) ?? [];
    while ((starts.at(-1) ?? index + 1) <= index) starts.pop();
    return {length, end: starts.at(-1)};
  }
}
