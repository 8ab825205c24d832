import type {ExtractedDocument} from '../../page.ts';
import {ConversionProblem} from '../conversion-problem.ts';
import {printMember, printValue, visibleJson} from './print-value.ts';
import {type JsonNode, scanJson} from './scan-json.ts';

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
