// Renders JSON, long texts and diffs.
import type {Json} from '../core/result.ts';
import type {Allowance} from './artifacts.ts';
import {type Element, element, linkTarget, type Markup} from './markup.ts';
import {renderMarkdown} from './render-markdown.ts';
import {isObject, type JsonObject, numberIn, textIn} from './run-history.ts';

/** Longer texts, and those with several lines, stand in a block of their own. */
const INLINE = 120;

/** JSON as a reader wants it: names and values, long texts as they are, lists line by line, the rest indented. */
function renderValue(value: Json, allowance: Allowance): Element {
  if (typeof value === 'string') return renderText(value, allowance);
  if (typeof value !== 'object' || value === null) return element('code', {}, String(value));
  if (!Array.isArray(value)) {
    if (isObject(value) && isFlat(value)) return renderFields(Object.entries(value), allowance);
    return renderText(JSON.stringify(value, null, 2), allowance);
  }
  if (value.length === 0) return element('code', {class: 'empty'}, 'none');
  const lines = value.flatMap((entry: Json): readonly string[] => {
    if (typeof entry === 'string') return [entry];
    return isObject(entry) && isFlat(entry) ? [oneLine(entry)] : [];
  });
  const isLines = lines.length === value.length;
  return renderText(isLines ? lines.join('\n') : JSON.stringify(value, null, 2), allowance);
}

function isFlat(value: JsonObject): boolean {
  return Object.values(value).every(entry => typeof entry !== 'object' || entry === null);
}

function oneLine(value: JsonObject): string {
  return Object.entries(value)
    .map(([name, entry]) => `${name} ${String(entry)}`)
    .join(', ');
}

/** Names and their values, one below the other. */
export function renderFields(fields: readonly (readonly [string, Json])[], allowance: Allowance): Element {
  if (fields.length === 0) return element('p', {class: 'note'}, 'None.');
  const rows = fields.flatMap(([name, value]) => {
    const label = allowance.head(name, 200);
    const shown = renderValue(value, allowance);
    // Beside its name where it is short, else below it where the page is narrow.
    const attributes = shown[0] === 'code' ? {} : {class: 'block'};
    return [element('dt', attributes, label), element('dd', attributes, shown)];
  });
  return ['dl', {}, rows];
}

export function renderText(text: string, allowance: Allowance): Element {
  if (text === '') return element('code', {class: 'empty'}, '""');
  if (text.length <= INLINE && !text.includes('\n')) return element('code', {}, allowance.head(text));
  const shown = allowance.head(text);
  const note = shown.length < text.length ? [leftOut(text.length - shown.length)] : [];
  return ['div', {}, [element('pre', {class: 'wrap'}, shown), ...note]];
}

export function leftOut(characters: number): Element {
  return element(
    'p',
    {class: 'note'},
    `${characters.toLocaleString('en')} more characters are left out here.`,
  );
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Whether a text is shown best as a diff. */
export function looksLikeDiff(text: string): boolean {
  return /^(?:--- |diff --git )/m.test(text) && /^@@ |^\+\+\+ |^rename /m.test(text);
}

/** A unified diff, a line each, with the numbers of its lines before and after. */
export function renderDiff(diff: string): Element {
  let before = 0;
  let after = 0;
  let isInHunk = false;
  const lines = diff.replace(/\n$/, '').split('\n');
  const width = String(lines.length + largestLine(lines)).length;
  const show = (kind: string, line: string, old?: number, now?: number): Markup =>
    element(
      'span',
      {class: kind},
      element('span', {class: 'ln'}, `${pad(old, width)} ${pad(now, width)} `),
      `${line}\n`,
    );
  const render = (line: string, at: number): Markup => {
    const hunk = HUNK.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      isInHunk = true;
      return show('hunk', line);
    }
    if (isFileHeader(lines, at)) isInHunk = false;
    if (!isInHunk) return show('meta', line);
    switch (line.charAt(0)) {
      case '+':
        after += 1;
        return show('add', line, undefined, after - 1);
      case '-':
        before += 1;
        return show('del', line, before - 1);
      case '\\':
        return show('meta', line);
      default:
        before += 1;
        after += 1;
        return show('same', line, before - 1, after - 1);
    }
  };
  return ['pre', {class: 'diff'}, lines.map(render)];
}

/** `--- ` alone may be a removed line that began with `-- `. */
function isFileHeader(lines: readonly string[], at: number): boolean {
  const [first = '', second = '', third = ''] = lines.slice(at, at + 3);
  if (first.startsWith('diff --git ')) return true;
  return first.startsWith('--- ') && second.startsWith('+++ ') && third.startsWith('@@ ');
}

function largestLine(lines: readonly string[]): number {
  return lines.reduce((largest, line) => Math.max(largest, Number(HUNK.exec(line)?.[1] ?? 0)), 0);
}

function pad(number: number | undefined, width: number): string {
  return (number === undefined ? '' : String(number)).padStart(width);
}

/** A fetched page: what its Markdown looks like, and beside it each chunk as it was counted. */
export function renderPageChunks(
  data: Json,
  chunks: readonly Json[],
  allowance: Allowance,
): readonly Markup[] {
  const title = textIn(data, 'title');
  const url = textIn(data, 'final_url') ?? textIn(data, 'requested_url') ?? '';
  const href = linkTarget(url);
  const tokens = chunks.reduce<number>((sum, chunk) => sum + (numberIn(chunk, 'token_count') ?? 0), 0);
  const where = element('code', {class: 'target'}, url);
  const facts = ['fetched_at', 'rendering_method', 'language', 'truncation_reason'].flatMap(name => {
    const value = textIn(data, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return [
    element('p', {class: 'page-title'}, element('strong', {}, title ?? 'Untitled page')),
    element('p', {}, href === undefined ? where : element('a', {href}, where)),
    renderFields([...facts, ['chunks', chunks.length], ['tokens', tokens]], allowance),
    ...chunks.map((chunk, index) => renderChunk(chunk, index, allowance)),
  ];
}

function renderChunk(chunk: Json, index: number, allowance: Allowance): Element {
  const text = textIn(chunk, 'text') ?? '';
  const tokens = numberIn(chunk, 'token_count') ?? 0;
  const heading = textIn(chunk, 'heading') ?? '';
  const shown = allowance.head(text);
  const isCut = shown.length < text.length;
  const source = isCut ? shown : allowance.head(shown);
  return element(
    'div',
    {class: 'chunk'},
    ['div', {class: 'page'}, isCut && shown === '' ? [leftOut(text.length)] : renderMarkdown(shown)],
    element(
      'div',
      {class: 'source'},
      element(
        'p',
        {class: 'chunk-facts'},
        element('b', {}, `Chunk ${index + 1}`),
        element('span', {class: 'tokens'}, `${tokens.toLocaleString('en')} tokens`),
        element('span', {class: 'heading'}, heading),
      ),
      element('pre', {class: 'wrap'}, source),
      ...(isCut ? [leftOut(text.length - shown.length)] : []),
    ),
  );
}
