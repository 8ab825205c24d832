import {USAGE_NAMES, type UsagePreference} from '../page.ts';

const BOM = 0xfeff;

const PREFERENCES: ReadonlyMap<string, UsagePreference['name']> = new Map(
  USAGE_NAMES.map(name => [name.toLowerCase(), name]),
);

/** What a robots.txt says, line by line, in the order of the file. */
export interface RobotsHandler {
  readonly userAgent: (value: string) => void;
  /** `pattern` is the value as written, and may be empty. */
  readonly rule: (allow: boolean, pattern: string) => void;
  /** What a site says of the use of its pages, in records of newer drafts than RFC 9309. */
  readonly preference: (name: UsagePreference['name'], value: string) => void;
}

/**
 * FR-WF-09b: reads lines and tells the handler of those that mean something; everything else is passed
 * over. One pass over the text. Ruling B4: lines end at CR, LF or CRLF, comments start at `#`, and
 * blanks are space and TAB only.
 */
export function scanRobots(text: string, handler: RobotsHandler): void {
  const [lineFeed, carriageReturn] = [nextOf(text, '\n'), nextOf(text, '\r')];
  const [colon, hash] = [nextOf(text, ':'), nextOf(text, '#')];
  let start = text.charCodeAt(0) === BOM ? 1 : 0;
  while (start < text.length) {
    const lineEnd = Math.min(lineFeed(start), carriageReturn(start));
    const end = Math.min(lineEnd, hash(start));
    const colonAt = colon(start);
    if (colonAt < end) emitLine(text, start, colonAt, end, handler);
    start = lineEnd + 1;
  }
}

/** Where a character occurs from a place on, or the length. The place only grows, so each is found once. */
function nextOf(text: string, character: string): (from: number) => number {
  let at = -1;
  return from => {
    if (at < from) at = text.indexOf(character, from);
    if (at === -1) at = text.length;
    return at;
  };
}

function emitLine(text: string, start: number, colon: number, end: number, handler: RobotsHandler): void {
  const field = trimBlanks(text, start, colon).toLowerCase();
  if (field === 'disallow') handler.rule(false, trimBlanks(text, colon + 1, end));
  else if (field === 'allow') handler.rule(true, trimBlanks(text, colon + 1, end));
  else if (field === 'user-agent') handler.userAgent(trimBlanks(text, colon + 1, end));
  else {
    const name = PREFERENCES.get(field);
    if (name) handler.preference(name, trimBlanks(text, colon + 1, end));
  }
}

function trimBlanks(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
