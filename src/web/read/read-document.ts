import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import {nearestName} from '../../core/text/nearest-name.ts';
import {findSection} from './find-section.ts';
import {outlineOf} from './outline-of.ts';
import {rankChunks} from './rank/rank-chunks.ts';
import {type Links, ReadablePage} from './readable-page.ts';
import type {Ask, Passage, Reading} from './reading.ts';
import {sectionName, takePassage} from './take-passage.ts';

export interface ReadSettings {
  readonly maxTokens: number;
  readonly links: Links;
  readonly countTokens: (text: string) => number;
}

/** `find` shows so many passages, and names so many more. */
const SHOWN = 3;
const NAMED = 5;

/** Ruling R1: what an answer needs of a document. `markdown` has line feeds only. */
export function readDocument(markdown: string, ask: Ask, settings: ReadSettings): Result<Reading> {
  const page = new ReadablePage(markdown, settings.links, settings.countTokens);
  const about = {
    total_tokens: page.totalTokens,
    total_chunks: page.chunks.length,
    total_sections: page.sections.length - 1,
  };
  const read = answer(page, ask, settings.maxTokens);
  return read.ok ? ok({...about, ...read.value}) : read;
}

type Answer = Omit<Reading, 'total_tokens' | 'total_chunks' | 'total_sections'>;

function answer(page: ReadablePage, ask: Ask, maxTokens: number): Result<Answer> {
  switch (ask.kind) {
    case 'overview':
      return ok(overview(page, maxTokens));
    case 'section':
      return section(page, ask.section, ask.fragment, maxTokens);
    case 'find':
      return ok(find(page, ask.query, maxTokens));
    case 'chunk':
      return chunk(page, ask.chunk, maxTokens);
  }
}

/** A page that fits is shown whole; else its outline takes half of the room, at most, and its beginning the rest. */
function overview(page: ReadablePage, maxTokens: number): Answer {
  const {length} = page.markdown;
  if (page.totalTokens <= maxTokens) return textFrom(page, 0, length, maxTokens);
  const {lines, leftOut, tokens} = outlineOf(page, Math.floor(maxTokens / 2));
  const room = maxTokens - tokens;
  const lead = page.countTokens(page.shown(0, page.chunks[0]?.end ?? 0)) <= room;
  return {
    outline: lines,
    ...(leftOut > 0 && {outline_left_out: leftOut}),
    ...(lead ? textFrom(page, 0, length, room) : {passages: [], next_chunk: 1}),
  };
}

function section(
  page: ReadablePage,
  wanted: string | number,
  isFragment: boolean,
  maxTokens: number,
): Result<Answer> {
  const found = findSection(page.sections, wanted);
  if (found && found.end > found.start) return ok(textFrom(page, found.start, found.end, maxTokens));
  if (isFragment) return ok({...overview(page, maxTokens), missing_fragment: String(wanted)});
  return noSection(page, wanted);
}

function noSection(page: ReadablePage, wanted: string | number): Result<never, Failure> {
  const headings = page.sections.slice(1).map(({heading}) => heading);
  const nearest = typeof wanted === 'string' ? nearestName(wanted, headings) : undefined;
  const advice =
    nearest === undefined
      ? `It has ${headings.length} sections; call web_read without section for their names and numbers.`
      : `Did you mean ${JSON.stringify(nearest)}?`;
  const reason = `the page has no section ${JSON.stringify(wanted)}`;
  return fail('bad_args', `Invalid argument "section": ${reason}. ${advice}`, {field: 'section', reason});
}

function chunk(page: ReadablePage, number: number, maxTokens: number): Result<Answer> {
  const from = page.chunks[number - 1]?.start;
  if (from !== undefined) return ok(textFrom(page, from, page.markdown.length, maxTokens));
  const {length} = page.chunks;
  const reason =
    length === 0 ? 'the page has no text' : `the page has ${length} chunks, and no chunk ${number}`;
  const advice = length === 0 ? 'Try force_browser.' : `Ask for one from 1 to ${length}.`;
  return fail('bad_args', `Invalid argument "chunk": ${reason}. ${advice}`, {field: 'chunk', reason});
}

function find(page: ReadablePage, query: string, maxTokens: number): Answer {
  const ranked = rankChunks(page, query);
  const passages: Passage[] = [];
  let room = maxTokens;
  for (const {chunk: index} of ranked.slice(0, SHOWN)) {
    const {start = 0, end = 0} = page.chunks[index] ?? {};
    const {passage} = takePassage(page, start, end, room);
    if (passages.length > 0 && passage.tokens > room) break;
    room -= passage.tokens;
    passages.push(passage);
  }
  const others = ranked.slice(passages.length, passages.length + NAMED).map(({chunk: index}) => ({
    chunk: index + 1,
    section: sectionName(page, page.chunks[index]?.start ?? 0),
  }));
  return {passages, ...(others.length > 0 && {others})};
}

function textFrom(page: ReadablePage, from: number, to: number, maxTokens: number): Answer {
  if (to === from) return {passages: []};
  const {passage, end} = takePassage(page, from, to, maxTokens);
  return {passages: [passage], ...(end < to && {next_chunk: page.chunkAt(end) + 1})};
}
