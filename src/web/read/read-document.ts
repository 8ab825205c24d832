// Answers one question about a document: overview, section, search or chunk.

import {type Failure, fail, ok, type Result} from '../../core/result.ts';
import {nearestName} from '../../core/text/nearest-name.ts';
import {outlineOf} from './outline.ts';
import {rankChunks} from './rank-chunks.ts';
import {type GridChunk, type Links, type PageSection, ReadablePage} from './readable-page.ts';
import type {Ask, Passage, Reading} from './reading.ts';

interface ReadSettings {
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
    section: page.sectionNameAt(page.chunks[index]?.start ?? 0),
  }));
  return {passages, ...(others.length > 0 && {others})};
}

function textFrom(page: ReadablePage, from: number, to: number, maxTokens: number): Answer {
  if (to === from) return {passages: []};
  const {passage, end} = takePassage(page, from, to, maxTokens);
  return {passages: [passage], ...(end < to && {next_chunk: page.chunkAt(end) + 1})};
}

interface Taken {
  readonly passage: Passage;
  /** Where the next one starts; `to` where nothing is left. */
  readonly end: number;
}

/** From `from` towards `to`, as many whole chunks as `maxTokens` reaches: at least what is left of the first. */
function takePassage(page: ReadablePage, from: number, to: number, maxTokens: number): Taken {
  const {chunks} = page;
  const first = page.chunkAt(from);
  const ends: number[] = [];
  let sum = 0;
  for (let index = first, start = from; start < to && index < chunks.length; index += 1) {
    const end = Math.min(to, (chunks[index] as GridChunk).end);
    sum += page.countTokens(page.shown(start, end));
    // Two pieces of a block may have more tokens together than one by one, so some come back below.
    if (ends.length > 0 && sum > maxTokens) break;
    ends.push(end);
    start = end;
  }
  for (;;) {
    const end = ends.pop() ?? to;
    const text = page.shown(from, end);
    const tokens = page.countTokens(text);
    if (tokens > maxTokens && ends.length > 0) continue;
    const {section, ...place} = page.placeOf(from, end);
    const passage: Passage = {
      text,
      tokens,
      ...place,
      last_chunk: first + 1 + ends.length,
      section,
    };
    return {passage, end};
  }
}

/** A section by its number, its heading, or a `#fragment` made of its heading. */
function findSection(sections: readonly PageSection[], wanted: string | number): PageSection | undefined {
  if (typeof wanted === 'number') return sections[wanted];
  const text = wanted.trim();
  const named = sections.slice(1);
  return (
    named.find(({heading}) => heading === text) ??
    (/^\d{1,9}$/.test(text) ? sections[Number(text)] : undefined) ??
    byName(named, text) ??
    byName(named, decoded(text))
  );
}

/** Sites make a fragment of a heading in many ways; letters and digits are what they share. */
function byName(sections: readonly PageSection[], text: string): PageSection | undefined {
  const name = nameOf(text);
  return name === '' ? undefined : sections.find(({heading}) => nameOf(heading) === name);
}

function nameOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
