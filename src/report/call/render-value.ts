import type {Json} from '../../core/json.ts';
import {isObject, type JsonObject} from '../json-field.ts';
import {type Element, element} from '../markup.ts';
import type {Allowance} from './allowance.ts';

/** Longer texts, and those with several lines, stand in a block of their own. */
const INLINE = 120;

/** JSON as a reader wants it: names and values, long texts as they are, lists line by line, the rest indented. */
export function renderValue(value: Json, allowance: Allowance): Element {
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
