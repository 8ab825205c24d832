import {ConversionProblem} from '../conversion-problem.ts';

/** A value as it is written. */
export interface JsonNode {
  /** The literal of its key, if it is a member of an object. */
  readonly key: string | undefined;
  /** The literal of a plain value; '' where there are children. */
  readonly text: string;
  readonly children: JsonNode[] | undefined;
  readonly isArray: boolean;
  /** Of it as it is printed with its key, about. */
  units: number;
}

/** Deeper than any document that is meant to be read. */
const DEEPEST = 200;
const MOST_VALUES = 1_000_000;
const BLANK = /[\t\n\r ]*/y;
const PLAIN = /[^\t\n\r ,\]}]+/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
/** Of a line, beside what is in it. */
const LINE_UNITS = 4;

/**
 * The values of a text that is known to be JSON. `JSON.parse` would read numbers as doubles and forget keys that stand
 * twice; a reader quotes what is written. Linear; nesting takes no stack.
 */
export function scanJson(source: string): JsonNode {
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
  return (key === undefined ? 0 : key.length + 2) + LINE_UNITS;
}
