// Parses unified diffs and git patches.
import type {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {atOnce, inTurns, LINES_A_TURN, type Turns} from '../open-file.ts';
import {beginPatchAt, parseBeginPatch} from './begin-patch.ts';
import {type HunkForm, isSignature, parseHeaderlessHunk, parseHunk} from './hunk.ts';
import {type ByteString, byteString, type Hunk, type Patch, type PatchSection} from './patch.ts';
import {parseSearchReplace, searchReplaceAt} from './search-replace.ts';
import {
  checkSection,
  headerText,
  isBinaryNotice,
  type Report,
  readSectionHeader,
  shownLine,
} from './section-header.ts';

interface Problem {
  readonly line: number;
  readonly reason: string;
}

const MAX_PATCH_BYTES = 32 * 1024 * 1024;
const LISTED_PROBLEMS = 50;
/** Bytes; a line that is longer is taken whole. */
const SPLIT_AT_ONCE = 65_536;
const BOM = '\xEF\xBB\xBF';

/** Other things that are called a patch. */
const OTHER_FORMATS: readonly (readonly [RegExp, string])[] = [
  [
    /^\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File)/,
    'this form needs a "*** Begin Patch" line before it and an "*** End Patch" line behind it',
  ],
  [/^\*{3} \S|^\*{15}/, 'this is a context diff'],
  [/^\d+(?:,\d+)?[acd]\d+(?:,\d+)?$/, 'this is a normal diff'],
  [/^(?:\d+(?:,\d+)?|\$)?[acdirwe]$|^\d+(?:,\d+)?s\//, 'this is an ed script'],
  [/^<{7}|^>{7}/, 'these are conflict or search-and-replace markers'],
];

/**
 * W7: reads a unified diff, with or without git headers, and reports everything that is wrong with it
 * (`patch_parse_error`). Code fences, text before the first section, a lost final newline and CRLF
 * throughout are put right; wrong line counts where the body is unambiguous. Touches no file.
 * Bytes are taken as they are, text as UTF-8. Linear in the length.
 */
export function parsePatch(input: string | Uint8Array): Result<Patch> {
  return atOnce(parsing(input));
}

/**
 * The same, with a turn for others now and then: a patch may have millions of lines. `asMeant` reads paths without
 * their prefix, sections without "@@" and context without its blank, which the files have to bear out. (W22)
 */
export async function parsePatchInTurns(
  input: string | Uint8Array,
  deadline?: Deadline,
  {asMeant = false}: {readonly asMeant?: boolean} = {},
): Promise<Result<Patch>> {
  const parsed = await inTurns(parsing(input, asMeant), deadline);
  return parsed.ok ? parsed.value : parsed;
}

function* parsing(input: string | Uint8Array, asMeant = false): Turns<Result<Patch>> {
  // A lone surrogate would silently become U+FFFD.
  if (typeof input === 'string' && !input.isWellFormed()) {
    const before = input.slice(0, input.search(/\p{Surrogate}/u));
    return refused([{line: before.split('\n').length, reason: 'the text is not well-formed Unicode'}]);
  }
  const text = typeof input === 'string' ? unwrapped(input) : input;
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  if (bytes.length > MAX_PATCH_BYTES) {
    const reason = `the patch has ${bytes.length} bytes; at most ${MAX_PATCH_BYTES} are applied at once`;
    return refused([{line: 1, reason}]);
  }
  const lines = yield* patchLines(byteString(bytes));
  const problems: Problem[] = [];
  const report: Report = (line, reason) => problems.push({line, reason});
  const begin = yield* beginPatchAt(lines);
  const block = begin === undefined ? yield* searchReplaceAt(lines) : undefined;
  const {sections, recounted} =
    begin !== undefined
      ? {sections: yield* parseBeginPatch(lines, begin, report), recounted: 0}
      : block !== undefined
        ? {sections: yield* parseSearchReplace(lines, block, report), recounted: 0}
        : yield* readSections(lines, report, asMeant);
  if (problems.length > 0) return refused(problems.sort((one, other) => one.line - other.line));
  if (sections.length === 0) {
    const reason = (yield* isBlank(lines)) ? 'the patch is empty' : 'the text is not a unified diff';
    return refused([{line: 1, reason}]);
  }
  const sizeBytes = typeof input === 'string' ? Buffer.byteLength(input) : input.length;
  return ok({sections, recounted, sizeBytes});
}

/** A patch that came as a JSON string, or as the one argument of a call in JSON. */
function unwrapped(input: string): string {
  if (!/^\s*(?:["[{]|\*\*\* Begin Patch\\n)/.test(input) || input.length > MAX_PATCH_BYTES) return input;
  const isBare = input.trimStart().startsWith('*');
  // With a line break in it, it is no longer a string that lost its quotes.
  if (isBare && input.trim().includes('\n')) return input;
  const said = attemptJson(isBare ? `"${input.trim()}"` : input);
  const texts = typeof said === 'object' && said !== null ? Object.values(said).flat() : [said];
  const patch = texts.find(one => typeof one === 'string' && one.includes('*** Begin Patch'));
  return typeof patch === 'string' ? patch : input;
}

function attemptJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function* isBlank(lines: readonly ByteString[]): Turns<boolean> {
  for (const [at, line] of lines.entries()) {
    if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
    if (line.trim() !== '') return false;
  }
  return true;
}

function* patchLines(text: ByteString): Turns<readonly ByteString[]> {
  const lines: ByteString[] = [];
  // CRLF on every line, headers too, comes from the transport, not from the files.
  let carried = true;
  let at = text.startsWith(BOM) ? BOM.length : 0;
  for (;;) {
    const end = text.lastIndexOf('\n', at + SPLIT_AT_ONCE);
    const newline = end >= at ? end : text.indexOf('\n', at);
    if (newline === -1) break;
    for (const line of text.slice(at, newline).split('\n')) {
      carried &&= line.endsWith('\r');
      lines.push(line);
    }
    at = newline + 1;
    if (text.length > SPLIT_AT_ONCE) yield;
  }
  carried &&= lines.length > 0;
  if (at < text.length) lines.push(text.slice(at));
  if (!carried) return lines;
  for (let number = 0; number < lines.length; number += 1) {
    if (number % LINES_A_TURN === LINES_A_TURN - 1) yield;
    lines[number] = headerText(lines[number]);
  }
  return lines;
}

function* readSections(
  lines: readonly ByteString[],
  report: Report,
  asMeant: boolean,
): Turns<{readonly sections: readonly PatchSection[]; readonly recounted: number}> {
  const sections: PatchSection[] = [];
  let recounted = 0;
  // Text is ignored before the first section and after the end of a mail or a fence.
  let prose = true;
  let complained = false;
  let at = 0;
  let turn = LINES_A_TURN;
  while (at < lines.length) {
    if (at >= turn) {
      turn = at + LINES_A_TURN;
      yield;
    }
    const line = headerText(lines[at]);
    if (
      line.startsWith('diff --git ') ||
      (line.startsWith('--- ') && (!prose || lines[at + 1]?.startsWith('+++ ')))
    ) {
      prose = false;
      complained = false;
      const start = readSectionHeader(lines, at, report);
      const body = yield* readHunks(lines, start.next, {isGit: start.header.isGit, asMeant}, report);
      at = body.next;
      recounted += body.recounted;
      // What is wrong with its header or a hunk has been reported already.
      if (!start.usable || !body.usable) continue;
      const section = checkSection(start.header, body.hunks, report, asMeant);
      if (section !== undefined) sections.push(section);
      continue;
    }
    if (isSignature(lines, at)) {
      prose = true;
      at += 2;
      continue;
    }
    if (/^(?:```|~~~|From [0-9a-f]{40} )/.test(line)) prose = true;
    else if (!complained) {
      const reason = isLoneRename(lines, at)
        ? 'a rename needs a "diff --git a/OLD b/NEW" line of its own before it'
        : whyNot(line, lines[at] ?? '', prose);
      if (reason !== undefined) report(at + 1, reason);
      // One complaint for a run of lines that are no diff.
      complained = reason !== undefined;
    }
    at += 1;
  }
  return {sections, recounted};
}

function* readHunks(
  lines: readonly ByteString[],
  start: number,
  form: HunkForm,
  report: Report,
): Turns<{
  readonly hunks: readonly Hunk[];
  readonly next: number;
  readonly recounted: number;
  readonly usable: boolean;
}> {
  const hunks: Hunk[] = [];
  let recounted = 0;
  let usable = true;
  let at = start;
  let turn = at + LINES_A_TURN;
  for (;;) {
    if (at >= turn) {
      turn = at + LINES_A_TURN;
      yield;
    }
    let next = at;
    while (lines[next] === '') next += 1;
    const isFirst = form.asMeant && next === start && isSectionBody(lines[next]);
    if (!isFirst && !lines[next]?.startsWith('@@')) return {hunks, next: at, recounted, usable};
    const parsed = isFirst ? yield* parseHeaderlessHunk(lines, next) : yield* parseHunk(lines, next, form);
    if ('hunk' in parsed) {
      hunks.push(parsed.hunk);
      if (parsed.recounted) recounted += 1;
    } else {
      usable = false;
      report(parsed.at + 1, parsed.problem);
    }
    at = parsed.next;
  }
}

/** What may follow the names of a file where the "@@" is missing. */
function isSectionBody(line: ByteString | undefined): boolean {
  return line !== undefined && line !== '' && !/^(?:@@|--- |diff |Index: |```|~~~|From |\*\*\* )/.test(line);
}

function isLoneRename(lines: readonly ByteString[], at: number): boolean {
  return /^rename from \S/.test(lines[at] ?? '') && /^rename to \S/.test(lines[at + 1] ?? '');
}

/** What is wrong with a line outside of every section; undefined where nothing is. */
function whyNot(line: string, raw: ByteString, prose: boolean): string | undefined {
  if (line.trim() === '' || /^(?:diff |Index: |={10,}$|Only in |index [0-9a-f]{4})/.test(line))
    return undefined;
  if (isBinaryNotice(line) || line === 'GIT binary patch')
    return 'binary patches are not applied; only text diffs are';
  const other = OTHER_FORMATS.find(([pattern]) => pattern.test(line));
  if (other !== undefined) return `${other[1]}; only unified diffs are applied`;
  if (line.startsWith('@@ -')) return 'a hunk needs a "--- a/PATH" and a "+++ b/PATH" line before it';
  if (prose) return undefined;
  return `${shownLine(raw)} belongs to no hunk; context lines begin with a blank`;
}

function refused(problems: readonly Problem[]): Err<Failure> {
  const [first] = problems;
  const named = problems.slice(0, 5).map(({line, reason}) => `Line ${line}: ${reason}.`);
  if (problems.length > named.length)
    named.push(`${problems.length - named.length} more in details.problems.`);
  return fail('patch_parse_error', `${named.join(' ')} Nothing was written. Send a plain unified diff.`, {
    line: first?.line,
    reason: first?.reason,
    problems: problems.slice(0, LISTED_PROBLEMS).map(({line, reason}) => ({line, reason})),
  });
}
