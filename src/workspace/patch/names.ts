// Parses and quotes file names in patches.
import {type ByteString, byteString, bytesOf} from './patch.ts';

/** A name of a `---` or `+++` line, as it stands there. */
export interface HeaderName {
  /** With its prefix; undefined for `/dev/null`. */
  readonly written: string | undefined;
  /** `diff -N` marks a file that does not exist with the first second of 1970. */
  readonly epoch: boolean;
}

/** What git, with and without mnemonic prefixes, puts before a path. */
const PREFIX = /^[abciow12]\//;

type Named<Value> = {readonly value: Value} | {readonly problem: string};

/** Reads what follows `--- ` or `+++ `: a name, C-quoted or up to a TAB, and perhaps a time stamp. */
export function parseHeaderName(rest: ByteString): Named<HeaderName> {
  let name = rest;
  let stamp = '';
  if (rest.startsWith('"')) {
    const unquoted = unquoteName(rest);
    if (unquoted === undefined) return {problem: 'the quoted file name is malformed'};
    name = unquoted.name;
    stamp = rest.slice(unquoted.end);
  } else {
    const tab = rest.indexOf('\t');
    if (tab !== -1) {
      name = rest.slice(0, tab);
      stamp = rest.slice(tab + 1);
    }
  }
  if (name === '/dev/null') return {value: {written: undefined, epoch: false}};
  const decoded = usableName(name);
  if ('problem' in decoded) return decoded;
  return {value: {written: decoded.value, epoch: isEpoch(stamp)}};
}

/** Reads what follows `rename from ` and the like: a name without prefix. */
export function parseBareName(rest: ByteString): Named<string> {
  if (!rest.startsWith('"')) return usableName(rest);
  const unquoted = unquoteName(rest);
  if (unquoted === undefined || unquoted.end !== rest.length)
    return {problem: 'the quoted file name is malformed'};
  return usableName(unquoted.name);
}

/**
 * Reads what follows `diff --git `. Names with blanks can be split in several ways: then the one with
 * equal halves is meant, and undefined says that only the other header lines can tell.
 */
export function parseGitNames(rest: ByteString): {readonly old: string; readonly new: string} | undefined {
  const splits = rest.startsWith('"') ? [unquoteName(rest)?.end ?? 0] : blanks(rest);
  const pairs: {old: string; new: string}[] = [];
  for (const split of splits) {
    const before = parseBareName(rest.slice(0, split));
    const after = parseBareName(rest.slice(split + 1));
    if ('problem' in before || 'problem' in after) continue;
    if (!PREFIX.test(before.value) || !PREFIX.test(after.value)) continue;
    pairs.push({old: before.value.slice(2), new: after.value.slice(2)});
  }
  return pairs.find(pair => pair.old === pair.new) ?? (pairs.length === 1 ? pairs[0] : undefined);
}

/**
 * Tool API: `-p1`. The first name of a path is taken off only where it is a prefix beyond doubt: git's
 * letters, or two different directories before the same path. `src/main.py` without one would
 * otherwise become `main.py`, another file. What leaves the workspace is kept for the jail to refuse. `asMeant` takes
 * such a path as it is. (W22)
 */
export function stripPrefix(
  written: string,
  counterpart: string | undefined,
  asMeant = false,
): Named<string> {
  if (PREFIX.test(written)) return {value: written.slice(2)};
  if (written.startsWith('/') || written.split('/').includes('..')) return {value: written};
  const slash = written.indexOf('/');
  if (counterpart !== undefined && slash > 0 && !written.startsWith(counterpart.slice(0, slash + 1))) {
    const path = written.slice(slash);
    if (counterpart.slice(counterpart.indexOf('/')) === path) return {value: path.slice(1)};
  }
  if (asMeant) return {value: written};
  const shown = JSON.stringify(written);
  return {problem: `${shown} has no a/ or b/ prefix; write "--- a/PATH" and "+++ b/PATH", as for patch -p1`};
}

function blanks(text: string): number[] {
  const found: number[] = [];
  // A name of more blanks than this is nobody's; it keeps the work linear.
  for (let at = text.indexOf(' '); at !== -1 && found.length < 64; at = text.indexOf(' ', at + 1))
    found.push(at);
  return found;
}

function usableName(name: ByteString): Named<string> {
  if (name === '') return {problem: 'the file name is missing'};
  if (name.includes('\0')) return {problem: 'the file name contains a NUL character'};
  const decoded = decodeName(name);
  return decoded === undefined ? {problem: 'the file name is not UTF-8'} : {value: decoded};
}

function isEpoch(stamp: string): boolean {
  const parts = /^\s*(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.0+)?(?: ([+-]\d\d)(\d\d))?\s*$/.exec(stamp);
  if (parts === null) return false;
  const [, day = '', time = '', hours = '+00', minutes = '00'] = parts;
  return Date.parse(`${day}T${time}${hours}:${minutes}`) === 0;
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

interface UnquotedName {
  readonly name: ByteString;
  /** Where the text goes on after the closing quote. */
  readonly end: number;
}

/** Reads a C-quoted name (`"\303\244.txt"`) that begins at the start of `text`; undefined if it is malformed. */
export function unquoteName(text: ByteString): UnquotedName | undefined {
  if (text[0] !== '"') return undefined;
  let name = '';
  let at = 1;
  while (at < text.length) {
    const character = text[at] ?? '';
    at += 1;
    if (character === '"') return {name, end: at};
    if (character !== '\\') {
      name += character;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(at, at + 3))?.[0];
    if (octal !== undefined) {
      name += String.fromCharCode(Number.parseInt(octal, 8));
      at += 3;
      continue;
    }
    const escaped = ESCAPES[text[at] ?? ''];
    if (escaped === undefined) return undefined;
    name += escaped;
    at += 1;
  }
  return undefined;
}

/** The name as a diff header carries it: quoted only where a control character, `"` or `\` makes that necessary. */
export function quoteName(path: string): ByteString {
  const name = byteString(Buffer.from(path));
  if (!/[\x00-\x1f\x7f"\\]/.test(name)) return name;
  const quoted = name.replace(/[\x00-\x1f\x7f"\\]/g, character => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return `"${quoted}"`;
}

/** The name as text; undefined where its bytes are not UTF-8 and so no path of ours can be meant. */
export function decodeName(name: ByteString): string | undefined {
  const bytes = bytesOf(name);
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : undefined;
}
