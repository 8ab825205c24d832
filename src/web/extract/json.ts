// JSON as Markdown: paths become sections, numbers and double keys stay as written.

import type {ExtractedDocument} from '../page.ts';
import {ConversionProblem} from './extract-html.ts';

/** UTF-16 units of a section as it is printed: what a reader takes in at once. */
const SECTION_UNITS = 2000;
const LONGEST_KEY = 80;
const LONGEST_PATH = 300;
const DEEPEST_HEADING = 6;
const NAME = /^[A-Za-z_$][\w$-]*$/;

/**
 * Ruling R3: JSON as Markdown. Small values are printed whole, larger ones are sections under their path; numbers and
 * strings stay as they are written. Throws `ConversionProblem`.
 */
export function extractJson(text: string): ExtractedDocument {
  const source = text.trim();
  try {
    JSON.parse(source);
  } catch {
    // What the parser says quotes the document.
    throw new ConversionProblem('damaged', 'it is not valid JSON');
  }
  const parts: string[] = [];
  writeSection(scanJson(source), '$', 1, parts);
  return {markdown: `${parts.join('\n\n')}\n`};
}

function writeSection(node: JsonNode, path: string, level: number, parts: string[]): void {
  parts.push(heading(path, level));
  if (node.units <= SECTION_UNITS || node.children === undefined) {
    parts.push(fence(printValue(node)));
    return;
  }
  const {children, isArray} = node;
  for (let index = 0; index < children.length; ) {
    const child = children[index] as JsonNode;
    if (child.units > SECTION_UNITS) {
      writeSection(child, `${path}${step(child, index, isArray)}`, level + 1, parts);
      index += 1;
      continue;
    }
    const behind = runEnd(children, index);
    const run = children.slice(index, behind);
    // The first members stand under the heading of their object; what follows a section needs one of its own.
    if (isArray || index > 0) parts.push(heading(`${path}${runStep(run, index, isArray)}`, level + 1));
    parts.push(fence(run.map(one => printMember(one)).join(',\n')));
    index = behind;
  }
}

/** Where a run of small children ends that is a section together. */
function runEnd(children: readonly JsonNode[], start: number): number {
  let units = 0;
  let behind = start;
  for (; behind < children.length; behind += 1) {
    const {units: own} = children[behind] as JsonNode;
    units += own;
    if (own > SECTION_UNITS || (behind > start && units > SECTION_UNITS)) break;
  }
  return behind;
}

function step(node: JsonNode, index: number, isArray: boolean): string {
  return isArray ? `[${index}]` : keyStep(node.key ?? '""');
}

function runStep(run: readonly JsonNode[], start: number, isArray: boolean): string {
  const last = run.at(-1);
  if (isArray) return run.length === 1 ? `[${start}]` : `[${start}-${start + run.length - 1}]`;
  const from = keyStep(run[0]?.key ?? '""');
  return run.length === 1 ? from : `${from} … ${keyStep(last?.key ?? '""')}`;
}

/** `.name`, or `["what is no name"]` as it is written. */
function keyStep(literal: string): string {
  const name = literal.slice(1, -1);
  if (name.length <= LONGEST_KEY && NAME.test(name)) return `.${name}`;
  const shown = name.length <= LONGEST_KEY ? name : `${[...name.slice(0, LONGEST_KEY)].join('')}…`;
  return `["${shown}"]`;
}

function heading(path: string, level: number): string {
  const shown = path.length <= LONGEST_PATH ? path : `…${path.slice(-LONGEST_PATH)}`;
  const code = visibleJson(shown).replaceAll('`', '\\u0060');
  return `${'#'.repeat(Math.min(level, DEEPEST_HEADING))} \`${code}\``;
}

function fence(text: string): string {
  return `\`\`\`json\n${text}\n\`\`\``;
}

/** A list of plain values up to this stays on one line. */
const LINE_UNITS = 100;
/** Ruling D8: what a reader cannot see is written as JSON can write it. ZWJ and ZWNJ are parts of words and emoji. */
const INVISIBLE =
  /[\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

/** A text without characters that nobody sees. */
function visibleJson(text: string): string {
  return text.replace(INVISIBLE, character =>
    Array.from({length: character.length}, (_, at) => {
      return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}

/** A value as text, by two blanks a level. */
function printValue(node: JsonNode, indent = ''): string {
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
function printMember(node: JsonNode, indent = ''): string {
  const value = printValue(node, indent);
  return node.key === undefined ? value : `${visibleJson(node.key)}: ${value}`;
}

/** A value as it is written. */
interface JsonNode {
  /** The literal of its key, if it is a member of an object. */
  readonly key: string | undefined;
  /** The literal of a plain value; '' where there are children. */
  readonly text: string;
  readonly children: JsonNode[] | undefined;
  readonly isArray: boolean;
  /** Of it is printed with its key, about. */
  units: number;
}

/** Deeper than any document that is meant to be read. */
const DEEPEST = 200;
const MOST_VALUES = 1_000_000;
const BLANK = /[\t\n\r ]*/y;
const PLAIN = /[^\t\n\r ,\]}]+/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
/** Of a line, beside what is in it. */
const UNITS_BESIDE_VALUE = 4;

/**
 * The values of a text that is known to be JSON. `JSON.parse` would read numbers as doubles and forget keys that stand
 * twice; a reader quotes what is written. Linear; nesting takes no stack.
 */
function scanJson(source: string): JsonNode {
  const root: JsonNode = {key: undefined, text: '', children: [], isArray: true, units: 0};
  const open: JsonNode[] = [root];
  let values = 0;
  let key: string | undefined;
  for (let at = 0; ; ) {
    BLANK.lastIndex = at;
    BLANK.test(source);
    at = BLANK.lastIndex;
    const character = source.charAt(at);
    const parent = open.at(-1) ?? root;
    if (character === '') break;
    if (character === ',' || character === ':') {
      at += 1;
    } else if (character === ']' || character === '}') {
      open.pop();
      const above = open.at(-1);
      if (above) above.units += parent.units + open.length * 2;
      at += 1;
    } else if (character === '[' || character === '{') {
      const node: JsonNode = {key, text: '', children: [], isArray: character === '[', units: keyUnits(key)};
      key = undefined;
      values += 1;
      parent.children?.push(node);
      open.push(node);
      if (open.length > DEEPEST + 1) {
        throw new ConversionProblem('too_complex', `its values are nested deeper than ${DEEPEST}`);
      }
      at += 1;
    } else {
      const form = character === '"' ? STRING : PLAIN;
      form.lastIndex = at;
      const text = form.exec(source)?.[0] ?? '';
      at += Math.max(1, text.length);
      if (!parent.isArray && key === undefined) {
        key = text;
        continue;
      }
      const units = keyUnits(key) + text.length + open.length * 2;
      parent.children?.push({key, text, children: undefined, isArray: false, units});
      parent.units += units;
      key = undefined;
      values += 1;
    }
    if (values > MOST_VALUES) {
      throw new ConversionProblem('too_complex', `it has more than ${MOST_VALUES} values`);
    }
  }
  return root.children?.[0] ?? root;
}

function keyUnits(key: string | undefined): number {
  return (key === undefined ? 0 : key.length + 2) + UNITS_BESIDE_VALUE;
}
