import {ConversionProblem} from '../conversion-problem.ts';

export interface XmlHandler {
  /** `start` is where the content of the element begins in the source. */
  readonly open: (name: string, attributes: string, start: number) => void;
  /** `end` is where its content ends. */
  readonly close: (name: string, end: number) => void;
  readonly text: (text: string) => void;
}

/** Deeper than any feed. */
const DEEPEST = 500;
const NAME = /[^\s/>=<]+/y;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g;
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};
const ATTRIBUTE = /([^\s=/>"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * XML as feeds have it, to a handler. Document types are passed over and declare nothing, so an entity stands for one
 * character at most. Linear. Throws `ConversionProblem` where the document is no tree.
 */
export function scanXml(source: string, handler: XmlHandler): void {
  const open: string[] = [];
  let hasRoot = false;
  for (let at = 0; at < source.length; ) {
    const tag = source.indexOf('<', at);
    const behind = tag < 0 ? source.length : tag;
    if (behind > at && open.length > 0) handler.text(decodeEntities(source.slice(at, behind)));
    if (tag < 0) break;
    if (source.startsWith('<!--', tag)) {
      at = endOf(source, '-->', tag + 4);
    } else if (source.startsWith('<![CDATA[', tag)) {
      at = endOf(source, ']]>', tag + 9);
      if (open.length > 0) handler.text(source.slice(tag + 9, at - 3));
    } else if (source.startsWith('<?', tag)) {
      at = endOf(source, '?>', tag + 2);
    } else if (source.startsWith('<!', tag)) {
      at = endOfDoctype(source, tag);
    } else if (source.startsWith('</', tag)) {
      at = endOf(source, '>', tag + 2);
      const name = source.slice(tag + 2, at - 1).trim();
      if (open.pop() !== name) throw damaged(`</${name.slice(0, 50)}> closes no element`);
      handler.close(name, tag);
    } else {
      if (open.length === 0 && hasRoot) throw damaged('it has two roots');
      hasRoot = true;
      at = readTag(source, tag, open, handler);
    }
  }
  if (!hasRoot || open.length > 0) throw damaged('it ends in the middle');
}

/** `name="value"` pairs of a start tag, by local name; the first one counts. */
export function attributesOf(written: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', double, single = ''] of written.matchAll(ATTRIBUTE)) {
    if (!found.has(name)) found.set(name, decodeEntities(double ?? single));
  }
  return found;
}

function readTag(source: string, tag: number, open: string[], handler: XmlHandler): number {
  NAME.lastIndex = tag + 1;
  const name = NAME.exec(source)?.[0];
  if (name === undefined) throw damaged('a "<" starts no element');
  const end = endOfTag(source, tag + 1 + name.length);
  const isEmpty = source.charAt(end - 2) === '/';
  handler.open(name, source.slice(tag + 1 + name.length, isEmpty ? end - 2 : end - 1), end);
  if (isEmpty) {
    handler.close(name, end);
  } else {
    open.push(name);
    if (open.length > DEEPEST) {
      throw new ConversionProblem('too_complex', `its elements are nested deeper than ${DEEPEST}`);
    }
  }
  return end;
}

/** A ">" inside quotes ends no tag. */
function endOfTag(source: string, from: number): number {
  let quote = '';
  for (let at = from; at < source.length; at += 1) {
    const character = source.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") {
      quote = character;
    } else if (character === '>') {
      return at + 1;
    }
  }
  throw damaged('it ends in the middle of a tag');
}

/** With an internal subset between brackets, of which nothing is read. */
function endOfDoctype(source: string, from: number): number {
  const end = endOf(source, '>', from);
  const bracket = source.slice(from, end).indexOf('[');
  return bracket < 0 ? end : endOf(source, ']>', from + bracket);
}

function endOf(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  if (at < 0) throw damaged(`"${mark}" is missing`);
  return at + mark.length;
}

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(ENTITY, (written, decimal: string, hex: string, name: string) => {
    if (name !== undefined) return NAMED[name] ?? written;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return isCharacter ? String.fromCodePoint(point) : '\ufffd';
  });
}

function damaged(what: string): ConversionProblem {
  return new ConversionProblem('damaged', `it is not well-formed XML: ${what}`);
}
