import {renderOutlineLine} from '../../web/read/render-outline-line.ts';
import type {WebReadData} from './web-read-data.ts';

/** Longer titles and addresses are cut in the frame; `data` has them whole. */
const LONGEST = 160;
const LONGEST_BYLINE = 60;

type Section = WebReadData['passages'][number]['section'];

/**
 * Ruling R1: Markdown with a line of frame. Every line of ours is in square brackets. T1: behind `boundary`, which the
 * first line names, nothing is from the page.
 */
export function renderWebRead(data: WebReadData, boundary?: string): string {
  const {passages, outline, outline_left_out, others} = data;
  const [first] = passages;
  const isFind =
    outline === undefined && data.next_chunk === undefined && (others !== undefined || passages.length > 1);
  return [
    `[${[...frameOf(data, isFind), ...(boundary === undefined ? [] : [`ends with ${boundary}`])].join(' · ')}]`,
    ...(data.changes === undefined ? [] : [changesLine(data.changes)]),
    ...(outline === undefined ? [] : [outline.map(renderOutlineLine).join('\n')]),
    ...(outline_left_out === undefined ? [] : [`[${outline_left_out} more sections: use find or chunk]`]),
    ...(isFind
      ? passages.map(({text, chunk, section}) => `[chunk ${chunk}${nameOf(section)}]\n${text.trim()}`)
      : first === undefined
        ? []
        : [first.text.trim()]),
    ...(others === undefined
      ? []
      : [`[also: ${others.map(({chunk, section}) => `chunk ${chunk}${nameOf(section)}`).join('; ')}]`]),
    ...(boundary === undefined ? [] : [`[end ${boundary}]`]),
  ].join('\n\n');
}

function frameOf(data: WebReadData, isFind: boolean): readonly string[] {
  const {title, final_url, total_tokens, total_sections, total_chunks, snapshot, passages} = data;
  const [first] = passages;
  const notes = data.notes.filter(note => note !== 'cache_hit');
  return [
    `${title === undefined ? '' : `${JSON.stringify(cut(title))} `}${cut(final_url)}`,
    ...bylineOf(data),
    `${total_tokens} tokens, ${total_sections} sections, ${total_chunks} chunks`,
    `snapshot ${snapshot}`,
    ...(notes.length > 0 ? [notes.join(', ')] : []),
    ...(data.missing_fragment === undefined
      ? []
      : [`no section ${JSON.stringify(cut(data.missing_fragment))}`]),
    ...(first === undefined
      ? [total_tokens === 0 ? 'no text' : data.outline === undefined ? 'nothing found' : '']
      : isFind
        ? []
        : [positionOf(first)]),
    ...(data.next_chunk === undefined ? [] : [`next: chunk ${data.next_chunk}`]),
  ].filter(part => part !== '');
}

/** Where the page begins, and not with every part of it. */
function bylineOf({author, published, site, passages, outline}: WebReadData): readonly string[] {
  if (outline === undefined && passages[0]?.start !== 0) return [];
  return [site, author, published].flatMap(said => (said === undefined ? [] : [quotedLine(said)]));
}

function quotedLine(text: string): string {
  return JSON.stringify(cut(text, LONGEST_BYLINE));
}

function positionOf({chunk, last_chunk, section}: WebReadData['passages'][number]): string {
  const chunks = chunk === last_chunk ? `chunk ${chunk}` : `chunks ${chunk}-${last_chunk}`;
  return `${chunks}${nameOf(section)}`;
}

function changesLine({
  since,
  is_known,
  sections,
  gone,
  left_out,
}: NonNullable<WebReadData['changes']>): string {
  if (!is_known) return `[snapshot ${since} is not kept any more: what changed since is not known]`;
  const named = (change: 'changed' | 'new'): string =>
    sections
      .filter(one => one.change === change)
      .map(({number, heading}) => (number === 0 ? 'the beginning' : `${number} ${JSON.stringify(heading)}`))
      .join(', ');
  const parts = [
    ['changed', named('changed')],
    ['new', named('new')],
    ['gone', gone.map(heading => JSON.stringify(heading)).join(', ')],
  ].flatMap(([what, names]) => (names ? [`${what}: ${names}`] : []));
  const more = left_out === undefined ? [] : [`${left_out} more`];
  const said = parts.length === 0 ? 'nothing changed' : [...parts, ...more].join('; ');
  return `[since snapshot ${since}: ${said}]`;
}

function nameOf({number, heading}: Section): string {
  return number === 0 ? '' : `, section ${number} ${JSON.stringify(heading)}`;
}

/** Between code points. */
function cut(text: string, longest = LONGEST): string {
  if (text.length <= longest) return text;
  const end = (text.charCodeAt(longest - 1) & 0xfc00) === 0xd800 ? longest - 1 : longest;
  return `${text.slice(0, end)}…`;
}
