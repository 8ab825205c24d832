const LF = 0x0a;
const CR = 0x0d;
const HASH = 0x23;
const COLON = 0x3a;
const BOM = 0xfeff;

/** What a robots.txt says, line by line, in the order of the file. */
export interface RobotsHandler {
  readonly userAgent: (value: string) => void;
  /** `pattern` is the value as written, and may be empty. */
  readonly rule: (allow: boolean, pattern: string) => void;
}

/**
 * FR-WF-09b: reads lines and tells the handler of those that mean something; everything else is passed
 * over. One pass over the text. Ruling B4: lines end at CR, LF or CRLF, comments start at `#`, and
 * blanks are space and TAB only.
 */
export function scanRobots(text: string, handler: RobotsHandler): void {
  let start = text.charCodeAt(0) === BOM ? 1 : 0;
  let colon = -1;
  let hash = -1;
  for (let at = start; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : LF;
    if (code === LF || code === CR) {
      if (colon !== -1) emitLine(text, start, colon, hash === -1 ? at : hash, handler);
      start = at + 1;
      colon = -1;
      hash = -1;
    } else if (hash === -1) {
      if (code === HASH) hash = at;
      else if (code === COLON && colon === -1) colon = at;
    }
  }
}

function emitLine(text: string, start: number, colon: number, end: number, handler: RobotsHandler): void {
  const field = trimBlanks(text, start, colon).toLowerCase();
  if (field === 'disallow') handler.rule(false, trimBlanks(text, colon + 1, end));
  else if (field === 'allow') handler.rule(true, trimBlanks(text, colon + 1, end));
  else if (field === 'user-agent') handler.userAgent(trimBlanks(text, colon + 1, end));
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
