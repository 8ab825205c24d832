import {takeStart} from '../../../core/text/take-start.ts';
import type {ByteString} from '../byte-string.ts';
import {type HeaderName, parseBareName, parseGitNames, parseHeaderName} from './header-names.ts';
import {decodeName} from './quoted-name.ts';

/** The lines before the hunks of a section, read but not yet checked. */
export interface SectionHeader {
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
