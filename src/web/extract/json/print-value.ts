import type {JsonNode} from './scan-json.ts';

/** A list of plain values up to this stays on one line. */
const LINE_UNITS = 100;
/** Ruling D8: what a reader cannot see is written as JSON can write it. ZWJ and ZWNJ are parts of words and emoji. */
const INVISIBLE =
  /[\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

/** A text without characters that nobody sees. */
export function visibleJson(text: string): string {
  return text.replace(INVISIBLE, character =>
    Array.from({length: character.length}, (_, at) => {
      return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}

/** A value as text, by two blanks a level. */
export function printValue(node: JsonNode, indent = ''): string {
  const {children, isArray} = node;
  if (children === undefined) return visibleJson(node.text);
  const [open, close] = isArray ? ['[', ']'] : ['{', '}'];
  if (children.length === 0) return `${open}${close}`;
  if (isArray && node.units <= LINE_UNITS && children.every(child => child.children === undefined)) {
    return `[${children.map(child => printValue(child)).join(', ')}]`;
  }
  const deeper = `${indent}  `;
  const members = children.map(child => `${deeper}${printMember(child, deeper)}`);
  return `${open}\n${members.join(',\n')}\n${indent}${close}`;
}

/** A member of an object with its key; an element of an array as it is. */
export function printMember(node: JsonNode, indent = ''): string {
  const value = printValue(node, indent);
  return node.key === undefined ? value : `${visibleJson(node.key)}: ${value}`;
}
