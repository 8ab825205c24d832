// Parses the headers of a section of a patch, and checks that they agree.
import {takeStart} from '../../core/text/cut.ts';
import {
  decodeName,
  type HeaderName,
  parseBareName,
  parseGitNames,
  parseHeaderName,
  stripPrefix,
} from './names.ts';
import type {ByteString, Hunk, PatchSection} from './patch.ts';

/** The lines before the hunks of a section, read but not yet checked. */
interface SectionHeader {
  /** 1-based line where the section begins. */
  readonly line: number;
  /** What follows `diff --git `. */
  git?: {readonly old: string; readonly new: string} | undefined;
  isGit: boolean;
  /** Of the `---` and `+++` lines. */
  old?: HeaderName;
  new?: HeaderName;
  oldMode?: string;
  newMode?: string;
  createdMode?: string;
  deletedMode?: string;
  renameFrom?: string;
  renameTo?: string;
}

export type Report = (line: number, reason: string) => void;

const SUPPORTED_MODES = new Set(['100644', '100755']);

/** Reads the section that begins at `lines[start]` up to its first hunk; returns where the hunks begin. */
export function readSectionHeader(
  lines: readonly ByteString[],
  start: number,
  report: Report,
): {readonly header: SectionHeader; readonly next: number; readonly usable: boolean} {
  const header: SectionHeader = {line: start + 1, isGit: false};
  let usable = true;
  let at = start;
  const complain = (reason: string): void => {
    usable = false;
    report(at + 1, reason);
  };
  const first = headerText(lines[at]);
  if (first.startsWith('diff --git ')) {
    header.isGit = true;
    header.git = parseGitNames(first.slice('diff --git '.length));
    at += 1;
    while (at < lines.length && readGitLine(headerText(lines[at]), header, complain)) at += 1;
  }
  const oldLine = headerText(lines[at]);
  const newLine = headerText(lines[at + 1]);
  if (oldLine.startsWith('--- ') && newLine.startsWith('+++ ')) {
    const oldName = parseHeaderName(oldLine.slice(4));
    if ('problem' in oldName) complain(oldName.problem);
    else header.old = oldName.value;
    if (namesOther(header.renameFrom, header.old?.written)) {
      complain(
        'these are not the names of the rename before; give each file a "diff --git a/PATH b/PATH" line',
      );
    }
    at += 1;
    const newName = parseHeaderName(newLine.slice(4));
    if ('problem' in newName) complain(newName.problem);
    else header.new = newName.value;
    at += 1;
  } else if (oldLine.startsWith('--- ')) {
    complain('a "---" line must be followed by a "+++" line');
    at += 1;
  }
  return {header, next: at, usable};
}

/** The name of a `---` line has a prefix, that of a `rename` line has none. */
function namesOther(renamed: string | undefined, written: string | undefined): boolean {
  if (renamed === undefined || written === undefined) return false;
  return written !== renamed && written.slice(written.indexOf('/') + 1) !== renamed;
}

/** True if the line belongs to the extended header of git, whether or not it may be applied. */
function readGitLine(line: string, header: SectionHeader, complain: (reason: string) => void): boolean {
  const [, key = '', value = ''] =
    /^(old mode|new mode|deleted file mode|new file mode|(?:rename|copy) (?:from|to|old|new)) (.*)$/.exec(
      line,
    ) ?? [];
  switch (key) {
    case 'old mode':
      header.oldMode = checkMode(value, complain);
      return true;
    case 'new mode':
      header.newMode = checkMode(value, complain);
      return true;
    case 'new file mode':
      header.createdMode = checkMode(value, complain);
      return true;
    case 'deleted file mode':
      header.deletedMode = checkMode(value, complain);
      return true;
    case 'rename from':
    case 'rename old':
    case 'rename to':
    case 'rename new': {
      if (header.renameFrom !== undefined && header.renameTo !== undefined) {
        complain('a second rename needs a "diff --git a/OLD b/NEW" line of its own before it');
        return true;
      }
      const name = parseBareName(value);
      if ('problem' in name) complain(name.problem);
      else if (key === 'rename from' || key === 'rename old') header.renameFrom = name.value;
      else header.renameTo = name.value;
      return true;
    }
    case '':
      break;
    default:
      complain('copies are not applied; create the file with its whole content instead');
      return true;
  }
  const index = /^index [0-9a-f,]+\.\.[0-9a-f]+(?: (\d+))?$/.exec(line);
  if (index !== null) {
    if (index[1] !== undefined) checkMode(index[1], complain);
    return true;
  }
  if (/^(?:dis)?similarity index /.test(line)) return true;
  if (line === 'GIT binary patch' || isBinaryNotice(line)) {
    complain('binary patches are not applied; only text diffs are');
    return true;
  }
  return false;
}

/** W7: nothing but regular files, with or without the executable bit. */
function checkMode(mode: string, complain: (reason: string) => void): string {
  if (SUPPORTED_MODES.has(mode)) return mode;
  if (mode === '120000') complain('mode 120000 is a symbolic link; only regular files are patched');
  else if (mode === '160000') complain('mode 160000 is a submodule; only regular files are patched');
  else complain(`mode ${JSON.stringify(mode)} is refused; only 100644 and 100755 can be set`);
  return mode;
}

export function isBinaryNotice(line: string): boolean {
  return /^(?:Binary files|Files) .* differ$/.test(line);
}

/** A header line without the CR that some transports add. */
export function headerText(line: ByteString | undefined): string {
  if (line === undefined) return '';
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

const SHOWN_CHARACTERS = 80;
/** Of UTF-8, a character has four bytes at most. */
const SHOWN_BYTES = 4 * SHOWN_CHARACTERS;

/** For messages: the beginning of a line, ended between two characters. */
export function shownLine(line: ByteString): string {
  const isLong = line.length > SHOWN_BYTES;
  const bytes = isLong ? line.slice(0, SHOWN_BYTES).replace(/[\xc0-\xff][\x80-\xbf]*$/, '') : line;
  const text = decodeName(bytes) ?? bytes;
  const shown = takeStart(text, SHOWN_CHARACTERS);
  return JSON.stringify(shown === text && !isLong ? text : `${shown}…`);
}

/** Puts header and hunks together; reports each contradiction between them. */
export function checkSection(
  header: SectionHeader,
  hunks: readonly Hunk[],
  report: Report,
  asMeant = false,
): PatchSection | undefined {
  const {line} = header;
  const refuse = (reason: string): undefined => {
    report(line, reason);
    return undefined;
  };
  if (header.old !== undefined && header.old.written === undefined && header.new?.written === undefined) {
    return refuse('both names are /dev/null');
  }
  const names = pathsOf(header, hunks, asMeant);
  if ('problem' in names) return refuse(names.problem);
  const {from, to} = names;
  const disagreement = disagreementOf(header, from, to);
  if (disagreement !== undefined) return refuse(disagreement);

  if (from === undefined && to !== undefined) {
    if (hunks.length > 1 || hunks.some(hunk => hunk.lines.some(it => it.kind !== '+'))) {
      return refuse('a new file has one hunk, and only "+" lines in it');
    }
    return {kind: 'create', line, path: to, hunks, executable: header.createdMode === '100755'};
  }
  if (from !== undefined && to === undefined) {
    if (hunks.length > 1 || hunks.some(hunk => hunk.lines.some(it => it.kind !== '-'))) {
      return refuse('a deletion has one hunk with the whole file as "-" lines, and nothing else in it');
    }
    return {kind: 'delete', line, path: from, hunks};
  }
  if (from === undefined || to === undefined)
    return refuse('the names of the file cannot be told from the header');
  const executable = header.newMode === undefined ? undefined : header.newMode === '100755';
  if (from !== to) return {kind: 'rename', line, path: to, from, hunks, executable};
  if (hunks.length === 0 && executable === undefined)
    return refuse('the section has no hunks, so it changes nothing');
  return {kind: 'modify', line, path: to, hunks, executable};
}

interface Paths {
  /** Undefined for a new file. */
  readonly from: string | undefined;
  /** Undefined for a deleted one. */
  readonly to: string | undefined;
}

function pathsOf(
  header: SectionHeader,
  hunks: readonly Hunk[],
  asMeant: boolean,
): Paths | {readonly problem: string} {
  if (header.old !== undefined && header.new !== undefined) return pathsOfNameLines(header, hunks, asMeant);
  if (hunks.length > 0) return {problem: 'hunks need a "--- a/PATH" and a "+++ b/PATH" line before them'};
  if (header.renameFrom !== undefined && header.renameTo !== undefined) {
    return {from: header.renameFrom, to: header.renameTo};
  }
  if (header.git === undefined) {
    return {
      problem:
        'the names on the "diff --git" line cannot be told apart; it must read "diff --git a/PATH b/PATH"',
    };
  }
  return {
    from: header.createdMode === undefined ? header.git.old : undefined,
    to: header.deletedMode === undefined ? header.git.new : undefined,
  };
}

function pathsOfNameLines(
  header: SectionHeader,
  hunks: readonly Hunk[],
  asMeant: boolean,
): Paths | {readonly problem: string} {
  const oldWritten = header.old?.written;
  const newWritten = header.new?.written;
  let from: string | undefined;
  let to: string | undefined;
  if (oldWritten !== undefined) {
    const stripped = stripPrefix(oldWritten, newWritten, asMeant);
    if ('problem' in stripped) return stripped;
    from = stripped.value;
  }
  if (newWritten !== undefined) {
    const stripped = stripPrefix(newWritten, oldWritten, asMeant);
    if ('problem' in stripped) return stripped;
    to = stripped.value;
  }
  const every = (kind: string): boolean => hunks.every(hunk => hunk.lines.every(line => line.kind === kind));
  if (header.old?.epoch && to !== undefined && every('+')) return {from: undefined, to};
  if (header.new?.epoch && from !== undefined && every('-')) return {from, to: undefined};
  return {from, to};
}

/** GNU patch follows `---`/`+++`, git its own header: both must say the same. */
function disagreementOf(
  header: SectionHeader,
  from: string | undefined,
  to: string | undefined,
): string | undefined {
  if (from === '' || to === '') return 'the path is empty';
  const {git, renameFrom, renameTo} = header;
  if ((renameFrom === undefined) !== (renameTo === undefined))
    return '"rename from" and "rename to" go together';
  if ((header.oldMode === undefined) !== (header.newMode === undefined))
    return '"old mode" and "new mode" go together';
  if (git !== undefined && (git.old !== (from ?? to) || git.new !== (to ?? from))) {
    return 'the "diff --git" line and the other header lines name different files';
  }
  if (renameFrom !== undefined && (renameFrom !== from || renameTo !== to || from === to)) {
    return 'the "rename" lines and the other header lines name different files, or one file twice';
  }
  if (renameFrom === undefined && from !== undefined && to !== undefined && from !== to) {
    return `the old name ${JSON.stringify(from)} and the new name ${JSON.stringify(to)} differ; a rename needs "rename from" and "rename to" lines after a "diff --git" line`;
  }
  if (header.createdMode !== undefined && from !== undefined) return '"new file mode" needs "--- /dev/null"';
  if (header.deletedMode !== undefined && to !== undefined)
    return '"deleted file mode" needs "+++ /dev/null"';
  return undefined;
}
