// Fits an answer into its limit of bytes. Long texts lose their middle, and long lists their end.
import {fail, type Json, ok, type Result} from '../core/result.ts';
import {type CutMarker, cutMiddle} from '../core/text/cut.ts';
import type {Tool, ToolAnswer, ToolContext} from '../core/tool.ts';

export interface FittedAnswer extends ToolAnswer {
  readonly truncated: boolean;
}

/** Ruling E7, FR-WF-03a: an answer fits the effective limit, by its own doing or by ours. */
export function fitAnswer(answer: ToolAnswer, tool: Tool, context: ToolContext): Result<FittedAnswer> {
  const maxBytes = Math.min(context.maxOutputBytes, context.availableCapacityBytes);
  const fitted = fitJson(answer.data, maxBytes, mayMark(tool));
  const isUsable = fitted !== undefined && (context.allowTruncation || !fitted.truncated);
  if (isUsable) return ok({...answer, ...fitted});
  // FR-WF-OUT-02
  return fail(
    'internal',
    'tool_output_limit',
    {error: 'tool_output_limit', max_bytes: maxBytes},
    {retryable: false},
  );
}

/** Whether the schema of the answer has room for `truncated: true`. */
function mayMark({dataSchema}: Tool): boolean {
  const {properties, additionalProperties} = dataSchema;
  const hasIt =
    typeof properties === 'object' && properties !== null && Object.hasOwn(properties, 'truncated');
  return hasIt || additionalProperties !== false;
}

/** Shorter text is left whole while lists can still give something. */
const SHORT_TEXT = 400;
const SHORTEST_TEXT = 40;
const UNLIMITED = Number.POSITIVE_INFINITY;

interface Limits {
  readonly text: number;
  readonly list: number;
}

/** One number to search, and what it limits. */
interface Stage {
  readonly least: number;
  readonly most: number;
  readonly limitsOf: (size: number) => Limits;
}

type JsonObject = {readonly [key: string]: Json};

export interface Fitted {
  readonly data: Json;
  readonly truncated: boolean;
}

/**
 * Makes a value fit into `maxBytes` of compact JSON and keeps its shape: the longest texts lose their
 * middle, and say so; if that is not enough, lists lose their end, which only the mark `truncated: true`
 * says and so needs an object that may carry it. `undefined` if nothing of it fits.
 */
export function fitJson(data: Json, maxBytes: number, mayMark: boolean): Fitted | undefined {
  if (bytesOf(data) <= maxBytes) return {data, truncated: false};
  const marks = mayMark && typeof data === 'object' && data !== null && !Array.isArray(data);
  const cutTo = (limits: Limits): Json => {
    const cut = shorten(data, limits);
    return marks ? {...(cut as JsonObject), truncated: true} : cut;
  };
  const fits = (limits: Limits): boolean => bytesOf(cutTo(limits)) <= maxBytes;
  const largest = longest(data);
  const texts: Stage = {
    least: SHORT_TEXT,
    most: Math.min(largest.text, maxBytes),
    limitsOf: text => ({text, list: UNLIMITED}),
  };
  const lists: Stage = {least: 1, most: largest.list, limitsOf: list => ({text: SHORT_TEXT, list})};
  const shortTexts: Stage = {
    least: SHORTEST_TEXT,
    most: SHORT_TEXT,
    limitsOf: text => ({text, list: marks ? 1 : UNLIMITED}),
  };
  const noLists: Stage = {least: 0, most: 0, limitsOf: list => ({text: SHORTEST_TEXT, list})};
  // A stage is taken only if the least of the one before is still too much, and keeps what it can.
  for (const {least, most, limitsOf} of marks ? [texts, lists, shortTexts, noLists] : [texts, shortTexts]) {
    if (!fits(limitsOf(least))) continue;
    let low = least;
    let high = Math.max(least, most);
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (fits(limitsOf(middle))) low = middle;
      else high = middle - 1;
    }
    return {data: cutTo(limitsOf(low)), truncated: true};
  }
  return undefined;
}

function shorten(value: Json, limits: Limits): Json {
  if (typeof value === 'string') return cutMiddle(value, limits.text, marker);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, limits.list).map((entry: Json) => shorten(entry, limits));
  return Object.fromEntries(Object.entries<Json>(value).map(([key, entry]) => [key, shorten(entry, limits)]));
}

/** FR-WF-03a: the generic marker. */
const marker: CutMarker = (left, total) =>
  `\n... [output truncated: ${left} of ${total} characters left out] ...\n`;

function longest(value: Json): {text: number; list: number} {
  const largest = {text: 0, list: 0};
  const pending: Json[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') largest.text = Math.max(largest.text, next.length);
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) largest.list = Math.max(largest.list, next.length);
    for (const entry of Object.values<Json>(next)) pending.push(entry);
  }
  return largest;
}

function bytesOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** All texts in a value, each on a line of its own. Names of fields are ours and no part of it. */
export function textsOf(value: Json): string {
  const texts: string[] = [];
  const walk = (one: Json): void => {
    if (typeof one === 'string') texts.push(one);
    else if (typeof one === 'object' && one !== null)
      for (const entry of Object.values<Json>(one)) walk(entry);
  };
  walk(value);
  return texts.join('\n');
}
