import type {ByteString} from './byte-string.ts';
import {parseBareName} from './parse/header-names.ts';
import {headerText, type Report, shownLine} from './parse/section-header.ts';
import type {Hunk, HunkLine, PatchSection} from './patch.ts';

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const FILE = /^\*\*\* (Add|Update|Delete) File:[ \t]*(.*)$/;
const MOVE = /^\*\*\* Move to:[ \t]*(.*)$/;
/** Says that a hunk is at the end of the file, which its old lines say as well. */
const END_OF_FILE = '*** End of File';

const BLANKS = new Set([' ', '\t', '\r']);

/** Not every character that JavaScript takes for a blank: of a name in UTF-8 these are bytes. */
function withoutBlanks(line: ByteString): ByteString {
  let end = line.length;
  while (end > 0 && BLANKS.has(line[end - 1] ?? '')) end -= 1;
  return line.slice(0, end) as ByteString;
}

/** Where the form begins that some models are trained on; undefined for a unified diff. */
export function beginPatchAt(lines: readonly ByteString[]): number | undefined {
  const first = lines.findIndex(
    line => line.startsWith('*** Begin') || line.startsWith('diff --git ') || line.startsWith('--- '),
  );
  return withoutBlanks(headerText(lines[first])) === BEGIN ? first : undefined;
}

/**
 * The sections between `*** Begin Patch` and `*** End Patch`. Hunks have no line numbers: they go where their old
 * lines are, if they are there once, and what stands behind `@@` is for people.
 */
export function parseBeginPatch(
  lines: readonly ByteString[],
  start: number,
  report: Report,
): readonly PatchSection[] {
  const sections: PatchSection[] = [];
  const text = (at: number): ByteString => withoutBlanks(headerText(lines[at]));
  let at = start + 1;
  for (; at < lines.length && text(at) !== END; ) {
    const [, kind = '', name = ''] = FILE.exec(text(at)) ?? [];
    const path = parseBareName(name);
    if (kind === '' || 'problem' in path) {
      if (text(at) !== '') report(at + 1, kind === '' ? notAHeader(lines[at] ?? '') : problemOf(path));
      at += 1;
      continue;
    }
    const line = at + 1;
    let end = line;
    while (end < lines.length && !FILE.test(text(end)) && text(end) !== END) end += 1;
    const section = readSection({kind, line, path: path.value}, lines, end, report);
    if (section !== undefined) sections.push(section);
    at = end;
  }
  // A patch that was cut off is not half a patch.
  if (at >= lines.length) report(lines.length, `the "${END}" line is missing, so something may be cut off`);
  const behind = lines.findIndex((line, index) => index > at && /^\*\*\* |^--- |^diff --git /.test(line));
  if (behind !== -1) report(behind + 1, `it stands behind the "${END}" line; put everything before it`);
  return sections;
}

interface Header {
  readonly kind: string;
  readonly line: number;
  readonly path: string;
}

function readSection(
  {kind, line, path}: Header,
  lines: readonly ByteString[],
  end: number,
  report: Report,
): PatchSection | undefined {
  if (kind === 'Update') return readUpdate({kind, line, path}, lines, end, report);
  const body: HunkLine[] = [];
  for (let at = line; at < end; at += 1) {
    const written = lines[at] ?? '';
    // Blank lines in front of the next header are between the sections.
    if (written === '' && lines.slice(at, end).every(line => line === '')) break;
    if (kind === 'Delete' || !written.startsWith('+')) {
      report(
        at + 1,
        kind === 'Delete' ? 'a deletion has no lines' : 'each line of a new file begins with "+"',
      );
      return undefined;
    }
    body.push({kind: '+', text: `${written.slice(1)}\n`});
  }
  if (kind === 'Delete') return {kind: 'delete', line, path, hunks: [], whole: true};
  const hunks: Hunk[] = body.length === 0 ? [] : [{line, oldStart: 0, lines: body}];
  return {kind: 'create', line, path, hunks, executable: false};
}

function readUpdate(
  {line, path}: Header,
  lines: readonly ByteString[],
  end: number,
  report: Report,
): PatchSection | undefined {
  let from = line;
  let to: string | undefined;
  const [, moved] = MOVE.exec(withoutBlanks(headerText(lines[from]))) ?? [];
  if (moved !== undefined) {
    const name = parseBareName(moved);
    if ('problem' in name) {
      report(from + 1, name.problem);
      return undefined;
    }
    to = name.value;
    from += 1;
  }
  const hunks = readHunks(lines, from, end, report);
  if (hunks === undefined) return undefined;
  if (to !== undefined && to !== path)
    return {kind: 'rename', line, path: to, from: path, hunks, executable: undefined};
  if (hunks.length > 0) return {kind: 'modify', line, path, hunks, executable: undefined};
  report(line, 'the section has no hunks, so it changes nothing');
  return undefined;
}

function readHunks(
  lines: readonly ByteString[],
  start: number,
  end: number,
  report: Report,
): readonly Hunk[] | undefined {
  const hunks: Hunk[] = [];
  let usable = true;
  let body: HunkLine[] = [];
  let first = start + 1;
  const close = (next: number): void => {
    // Blank lines before the next line that starts with "*" or "@" are no context.
    for (let at = next - 1; at >= start && lines[at] === ''; at -= 1) body.pop();
    if (body.some(({kind}) => kind !== ' '))
      hunks.push({line: first, oldStart: undefined, anywhere: true, lines: body});
    else if (body.length > 0) {
      usable = false;
      report(first, 'the hunk has no "-" and no "+" line, so it changes nothing; leave it out');
    }
    body = [];
    first = next + 1;
  };
  for (let at = start; at < end; at += 1) {
    const written = lines[at] ?? '';
    const kind = written === '' ? ' ' : written[0];
    if (kind === ' ' || kind === '-' || kind === '+') body.push({kind, text: `${written.slice(1)}\n`});
    else if (written.startsWith('@@')) close(at);
    else if (headerText(written).trimEnd() !== END_OF_FILE) {
      usable = false;
      report(
        at + 1,
        `${shownLine(written)} begins with none of " ", "-" and "+"; a context line begins with a blank`,
      );
      break;
    }
  }
  close(end);
  return usable ? hunks : undefined;
}

function notAHeader(line: ByteString): string {
  return `${shownLine(line)} is not one of "*** Add File: PATH", "*** Update File: PATH" and "*** Delete File: PATH"`;
}

function problemOf(path: ReturnType<typeof parseBareName>): string {
  return 'problem' in path ? path.problem : '';
}
