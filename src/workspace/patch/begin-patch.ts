// Parses the format `*** Begin Patch`.
import {LINES_A_TURN, type Turns} from '../open-file.ts';
import {namedBy} from './hunk.ts';
import {parseBareName} from './names.ts';
import type {ByteString, Hunk, HunkLine, PatchSection} from './patch.ts';
import {headerText, type Report, shownLine} from './section-header.ts';
import {withoutBlanksAround} from './text-lines.ts';

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const FILE = /^\*\*\* (Add|Update|Delete) File:[ \t]*(.*)$/;
const MOVE = /^\*\*\* Move to:[ \t]*(.*)$/;
/** Says that a hunk is at the end of the file, which its old lines say as well. */
const END_OF_FILE = '*** End of File';

/** `cd DIR && apply_patch <<'EOF'`: what the names of the files are relative to. */
const CHANGED_DIRECTORY = /^\s*cd\s+(?:'([^'\n]+)'|"([^"\n$`]+)"|([^\s'"&|;$`]+))\s*&&\s*apply_?patch\s*<</;

/** Where the form begins that some models are trained on; undefined for a unified diff. */
export function* beginPatchAt(lines: readonly ByteString[]): Turns<number | undefined> {
  for (const [at, line] of lines.entries()) {
    if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
    if (/^[ \t]*\*\*\* Begin/.test(line)) return withoutBlanksAround(line) === BEGIN ? at : undefined;
    if (line.startsWith('diff --git ') || line.startsWith('--- ')) return undefined;
  }
  return undefined;
}

/**
 * The sections between `*** Begin Patch` and `*** End Patch`. Hunks have no line numbers: they go where their old
 * lines are, below the lines that stand behind `@@`. (W22)
 */
export function* parseBeginPatch(
  lines: readonly ByteString[],
  start: number,
  report: Report,
): Turns<readonly PatchSection[]> {
  const sections: PatchSection[] = [];
  const text = (at: number): ByteString => withoutBlanksAround(lines[at] ?? '');
  const [, single, double, plain] = CHANGED_DIRECTORY.exec(lines[start - 1] ?? '') ?? [];
  const directory = single ?? double ?? plain;
  const last = yield* endOf(lines, start);
  let at = start + 1;
  while (at < last) {
    if (at % LINES_A_TURN === 0) yield;
    const [, kind = '', name = ''] = FILE.exec(text(at)) ?? [];
    const path = nameIn(directory, name);
    if (kind === '' || 'problem' in path) {
      if (text(at) !== '') report(at + 1, kind === '' ? notAHeader(lines[at] ?? '') : problemOf(path));
      at += 1;
      continue;
    }
    const line = at + 1;
    let end = line;
    while (end < last && !isBorder(lines[end])) {
      if (end % LINES_A_TURN === 0) yield;
      end += 1;
    }
    const section = yield* readSection({kind, line, path: path.value, directory}, lines, end, report);
    if (section !== undefined) sections.push(section);
    at = end;
  }
  // A patch that was cut off is not half a patch.
  if (at >= lines.length) report(lines.length, `the "${END}" line is missing, so something may be cut off`);
  for (let behind = at + 1; behind < lines.length; behind += 1) {
    if (behind % LINES_A_TURN === 0) yield;
    if (!/^\*\*\* |^--- |^diff --git /.test(lines[behind] ?? '')) continue;
    report(behind + 1, `it stands behind the "${END}" line; put everything before it`);
    break;
  }
  return sections;
}

/** The line that ends the patch. With a blank before it, it may be a line of a file: then the last one counts. */
function* endOf(lines: readonly ByteString[], start: number): Turns<number> {
  let padded = lines.length;
  for (let at = start + 1; at < lines.length; at += 1) {
    if (at % LINES_A_TURN === 0) yield;
    const line = lines[at] ?? '';
    if (!line.includes(END) || withoutBlanksAround(line) !== END) continue;
    if (line.startsWith(END)) return at;
    padded = at;
  }
  return padded;
}

function nameIn(directory: ByteString | undefined, name: ByteString): ReturnType<typeof parseBareName> {
  const isRelative = directory !== undefined && name !== '' && !name.startsWith('/') && !name.startsWith('"');
  return parseBareName(isRelative ? `${directory.replace(/\/+$/, '')}/${name}` : name);
}

/** Where a section ends: at the header of the next one, or at the end of the patch. */
function isBorder(line: ByteString | undefined): boolean {
  if (line?.startsWith('*** ') !== true) return false;
  return FILE.test(withoutBlanksAround(line));
}

interface Header {
  readonly kind: string;
  readonly line: number;
  readonly path: string;
  readonly directory: ByteString | undefined;
}

function* readSection(
  header: Header,
  lines: readonly ByteString[],
  end: number,
  report: Report,
): Turns<PatchSection | undefined> {
  const {kind, line, path} = header;
  if (kind === 'Update') return yield* readUpdate(header, lines, end, report);
  const body: HunkLine[] = [];
  // Blank lines in front of the next header are between the sections.
  let last = end;
  while (last > line && lines[last - 1] === '') last -= 1;
  for (let at = line; at < last; at += 1) {
    if (at % LINES_A_TURN === 0) yield;
    const written = lines[at] ?? '';
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

function* readUpdate(
  {line, path, directory}: Header,
  lines: readonly ByteString[],
  end: number,
  report: Report,
): Turns<PatchSection | undefined> {
  let from = line;
  let to: string | undefined;
  const [, moved] = MOVE.exec(headerText(lines[from]).replace(/[ \t]+$/, '')) ?? [];
  if (moved !== undefined) {
    const name = nameIn(directory, moved);
    if ('problem' in name) {
      report(from + 1, name.problem);
      return undefined;
    }
    to = name.value;
    from += 1;
  }
  const hunks = yield* readHunks(lines, from, end, report);
  if (hunks === undefined) return undefined;
  if (to !== undefined && to !== path)
    return {kind: 'rename', line, path: to, from: path, hunks, executable: undefined};
  if (hunks.length > 0) return {kind: 'modify', line, path, hunks, executable: undefined};
  report(line, 'the section has no hunks, so it changes nothing');
  return undefined;
}

function* readHunks(
  lines: readonly ByteString[],
  start: number,
  end: number,
  report: Report,
): Turns<readonly Hunk[] | undefined> {
  const hunks: Hunk[] = [];
  let usable = true;
  let body: HunkLine[] = [];
  let anchors: ByteString[] = [];
  let oldStart: number | undefined;
  let isMarked = false;
  let first = start + 1;
  const close = (next: number): void => {
    // Blank lines before the next line that starts with "*" or "@" are no context.
    for (let at = next - 1; at >= start && lines[at] === ''; at -= 1) body.pop();
    if (body.some(({kind}) => kind !== ' ')) {
      // Without a line that says where, an addition goes to the end of the file.
      const atEnd = isMarked || (anchors.length === 0 && body.every(({kind}) => kind === '+'));
      hunks.push({line: first, oldStart, hasNoLineNumber: true, anchors, atEnd, lines: body});
    } else if (body.length > 0) {
      usable = false;
      report(first, 'the hunk has no "-" and no "+" line, so it changes nothing; leave it out');
    }
    if (body.length > 0) {
      anchors = [];
      oldStart = undefined;
    }
    isMarked = false;
    body = [];
    first = next + 1;
  };
  for (let at = start; at < end; at += 1) {
    if (at % LINES_A_TURN === 0) yield;
    const written = lines[at] ?? '';
    const kind = written === '' ? ' ' : written[0];
    if (kind === ' ' || kind === '-' || kind === '+') body.push({kind, text: `${written.slice(1)}\n`});
    else if (written.startsWith('@@')) {
      close(at);
      const says = namedBy(written);
      anchors.push(...(says.anchors ?? []));
      oldStart = says.oldStart;
    } else if (headerText(written).trimEnd() === END_OF_FILE) isMarked = true;
    else {
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
