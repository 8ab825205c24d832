// Finds places with ripgrep, and expands the replacement of each.
import {randomHex} from '../../core/clock.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {Turns} from '../open-file.ts';
import {type Query, queryArguments, type Ripgrep, runRipgrep} from '../search/ripgrep.ts';
import {isCrlf} from './find-occurrences.ts';

export interface FoundPlace {
  /** Byte of the text where it begins. */
  readonly at: number;
  readonly length: number;
  /** What comes in its place. */
  readonly replacement: Buffer;
}

interface Search {
  /** Lines, each with its end. No NUL. */
  readonly text: Buffer;
  readonly query: Query;
  readonly replacement: string;
  /** The replacement names groups of the query. */
  readonly hasGroups: boolean;
  readonly signal: AbortSignal;
}

interface Limits {
  readonly places: number;
  readonly bytes: number;
}

const EACH_MATCH = ['--text', '--no-heading', '--no-filename', '--no-line-number', '--only-matching'];
/** With `--crlf`, ripgrep ends what it prints so, whatever the text has. */
const LINE_END = '\r\n';
/** Before a match: the byte where it begins. */
const OFFSET = /^(\d+):/;

/**
 * The places of a text that match, and what becomes of each. Only ripgrep reads the pattern: it is linear in the
 * text, in a process of its own, and the same as for search. It is asked for the matches, and where the replacement
 * names groups a second time for what these make of it.
 */
export async function findReplacements(
  ripgrep: Ripgrep,
  {text, query, replacement, hasGroups, signal}: Search,
  limits: Limits,
): Promise<Result<readonly FoundPlace[]>> {
  const ask = (args: readonly string[]) =>
    askOnce(
      ripgrep,
      {args: [...EACH_MATCH, ...args, ...queryArguments(query, '-')], text, signal},
      limits.bytes,
    );
  const matched = await ask(['--byte-offset']);
  if (!matched.ok) return matched;
  const places = readMatches(text, matched.value, limits.places);
  if (places === undefined) return confused();
  if (places.length > limits.places) return tooMany(limits.places);
  const plain = Buffer.from(replacement);
  if (!hasGroups) return ok(places.map(place => ({...place, replacement: plain})));
  // Nobody who wrote the text or the replacement could know it.
  // A bracket, as a letter would belong to the name of a group before it.
  const end = `[${randomHex(16)}]`;
  const made = await ask(['--replace', `${replacement}${end}`]);
  if (!made.ok) return made;
  const texts = readTexts(made.value, end);
  if (texts?.length !== places.length) return confused();
  return ok(places.map((place, index) => ({...place, replacement: texts[index] ?? plain})));
}

async function askOnce(
  ripgrep: Ripgrep,
  {
    args,
    text,
    signal,
  }: {readonly args: readonly string[]; readonly text: Buffer; readonly signal: AbortSignal},
  maxBytes: number,
): Promise<Result<Buffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const run = await runRipgrep(ripgrep, {
    args,
    stdin: [text],
    onStdout: part => {
      size += part.length;
      parts.push(Uint8Array.from(part));
      return size <= maxBytes;
    },
    signal,
  });
  if (!run.ok) return run;
  if (run.value === 'aborted') return fail('cancelled', 'The replacement was cancelled.');
  if (run.value === 'stopped') return tooLarge(maxBytes);
  return ok(Buffer.concat(parts));
}

/** Undefined where what is printed is not in the text at that place. */
function readMatches(
  text: Buffer,
  printed: Buffer,
  most: number,
): readonly {readonly at: number; readonly length: number}[] | undefined {
  const places: {at: number; length: number}[] = [];
  for (let from = 0; from < printed.length; ) {
    const number = OFFSET.exec(printed.toString('latin1', from, from + 20))?.[1];
    if (number === undefined) return undefined;
    const start = from + number.length + 1;
    const at = Number(number);
    // A match holds no line feed, but it may end in a CR.
    const feed = printed.indexOf('\n', start);
    const end = feed - (LINE_END.length - 1);
    if (feed === -1 || end < start || printed[end] !== 0x0d) return undefined;
    const length = end - start;
    if (!text.subarray(at, at + length).equals(printed.subarray(start, end))) return undefined;
    places.push({at, length});
    // One too many is enough to know, and there can be millions.
    if (places.length > most) break;
    from = feed + 1;
  }
  return places;
}

function readTexts(printed: Buffer, end: string): readonly Buffer[] | undefined {
  const texts: Buffer[] = [];
  const mark = `${end}${LINE_END}`;
  for (let from = 0; from < printed.length; ) {
    const until = printed.indexOf(mark, from);
    if (until === -1) return undefined;
    texts.push(printed.subarray(from, until));
    from = until + mark.length;
  }
  return texts;
}

function confused(): Err<Failure> {
  const error = 'its matches are not where it says they are';
  return fail(
    'ripgrep_error',
    `ripgrep was not understood: ${error}. Nothing was written. Use a plain text.`,
    {
      error,
      exit_code: null,
    },
  );
}

function tooMany(limit: number): Err<Failure> {
  const reason = `query has more than ${limit} matches, which is the most that are replaced at once`;
  return fail('invalid_params', `${reason}. Narrow it with glob or path.`, {field: 'query', reason});
}

function tooLarge(limit: number): Err<Failure> {
  const reason = `the matches have more than ${limit} bytes together`;
  return fail('invalid_params', `Of query, ${reason}. Narrow it with glob or path.`, {
    field: 'query',
    reason,
  });
}

export interface ReplacedText {
  readonly content: Buffer;
  /** Places that say something else now. */
  readonly count: number;
}

const CR = 0x0d;
const LF = 0x0a;

/** A file with its places replaced. They ascend, and do not overlap. Line ends stay those of the file (W6, W13). */
export function* replaceText(content: Buffer, places: readonly FoundPlace[]): Turns<ReplacedText> {
  const crlf = yield* isCrlf(content);
  const parts: Buffer[] = [];
  let count = 0;
  let copied = 0;
  for (const {at, length, replacement} of places) {
    let end = at + length;
    let fresh = crlf ? withCrlf(replacement) : replacement;
    if (length > 0 && content[end - 1] === CR && content[end] === LF) {
      // ripgrep 15 leaves the CR out of a match; a version that does not must not cost the file its line ends.
      end -= 1;
      if (fresh.at(-1) === CR) fresh = fresh.subarray(0, -1);
    }
    if (content.subarray(at, end).equals(fresh)) continue;
    count += 1;
    parts.push(content.subarray(copied, at), fresh);
    copied = end;
  }
  parts.push(content.subarray(copied));
  return {content: Buffer.concat(parts), count};
}

function withCrlf(text: Buffer): Buffer {
  if (!text.includes(LF) || text.includes(CR)) return text;
  return Buffer.from(text.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}

/** The capturing groups of a pattern, in order; undefined for one without a name. Group 0 is the whole match. */
function groupsOf(pattern: string): readonly (string | undefined)[] {
  const groups: (string | undefined)[] = [];
  let depth = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '[') {
      depth += 1;
      // A bracket that closes is a plain one where the class begins.
      const begins = /^\[\^?\]/.exec(pattern.slice(at, at + 3));
      if (begins !== null) at += begins[0].length - 1;
    } else if (character === ']' && depth > 0) depth -= 1;
    else if (character === '(' && depth === 0) {
      const name = /^\(\?P?<([^>=!][^>]*)>/.exec(pattern.slice(at, at + 200));
      if (name !== null) groups.push(name[1]);
      else if (pattern[at + 1] !== '?') groups.push(undefined);
    }
  }
  return groups;
}

/**
 * ripgrep takes a group that is not there for an empty text, and `$1_new` for a group of that name: what was meant
 * would vanish from every place without a word. Such a template is refused; the error is why. The value says
 * whether it names groups at all.
 */
export function readTemplate(pattern: string, template: string): Result<boolean, string> {
  const groups = groupsOf(pattern);
  let names = false;
  for (const [written, doubled, braced, bare] of template.matchAll(/(\$\$)|\$\{([^}]*)\}|\$(\w+)/g)) {
    names = true;
    if (doubled !== undefined) continue;
    const name = braced ?? bare ?? '';
    if (/^\d+$/.test(name) ? Number(name) <= groups.length : groups.includes(name)) continue;
    const digits = /^\d+/.exec(bare ?? '')?.[0];
    if (digits !== undefined && digits !== bare && Number(digits) <= groups.length) {
      const rest = (bare ?? '').slice(digits.length);
      return refused(`names the group ${written}; write \${${digits}}${rest}`);
    }
    const count = `query has ${groups.length === 0 ? 'no groups' : `${groups.length} ${groups.length === 1 ? 'group' : 'groups'}`}`;
    return refused(`names the group ${written}, and ${count}; for the character $ write $$`);
  }
  if (groups.length > 0 && /\\\d/.test(template))
    return refused('has a backslash before a number; write $1 for a group');
  return ok(names);
}

function refused(reason: string): Result<never, string> {
  return {ok: false, error: reason};
}
