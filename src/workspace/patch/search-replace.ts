// Parses SEARCH/REPLACE blocks, below the name of their file, as Aider and Cline write them.
import {LINES_A_TURN, type Turns} from '../open-file.ts';
import {diffLines} from './diff-lines.ts';
import {parseBareName} from './names.ts';
import type {ByteString, HunkLine, PatchSection} from './patch.ts';
import type {Report} from './section-header.ts';
import {withoutBlanksAround} from './text-lines.ts';

const SEARCH = /^(?:<{5,9}|-{5,9}) ?SEARCH>?$/;
const DIVIDER = /^={5,9}$/;
const REPLACE = /^(?:>{5,9}|\+{5,9}) ?REPLACE>?$/;
/** Roo writes the line there: it is that of the file before all blocks, so it is not relied on. */
const START_LINE = /^:start_line:\s*\d+$/;
/** So many lines above a block may be between it and the name of its file. */
const NAME_WITHIN = 4;

/** Where the first block begins; undefined where the text is something else. */
export function* searchReplaceAt(lines: readonly ByteString[]): Turns<number | undefined> {
  for (const [at, line] of lines.entries()) {
    if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
    if (/^(?:diff --git |--- \S|\*\*\* Begin)/.test(line)) return undefined;
    if (SEARCH.test(withoutBlanksAround(line))) return at;
  }
  return undefined;
}

/** A section for each block: it works on what the one before it left. (W22) */
export function* parseSearchReplace(
  lines: readonly ByteString[],
  start: number,
  report: Report,
): Turns<readonly PatchSection[]> {
  const sections: PatchSection[] = [];
  let path: string | undefined;
  let from = 0;
  let at: number | undefined = start;
  while (at !== undefined) {
    const block: Block | undefined = yield* readBlock(lines, at, report);
    if (block === undefined) return sections;
    path = nameAbove(lines, at, from) ?? path;
    if (path === undefined) report(at + 1, 'the line above the block has to name its file');
    else {
      const section = yield* sectionOf(block, path, at + 1, report);
      if (section !== undefined) sections.push(section);
    }
    from = block.next;
    at = undefined;
    for (let next = from; next < lines.length && at === undefined; next += 1) {
      if (next % LINES_A_TURN === 0) yield;
      if (SEARCH.test(withoutBlanksAround(lines[next] ?? ''))) at = next;
    }
  }
  return sections;
}

interface Block {
  readonly search: readonly ByteString[];
  readonly replace: readonly ByteString[];
  /** The line behind it. */
  readonly next: number;
}

function* readBlock(lines: readonly ByteString[], start: number, report: Report): Turns<Block | undefined> {
  const isRoo = START_LINE.test(withoutBlanksAround(lines[start + 1] ?? ''));
  const first = start + (isRoo ? 3 : 1);
  const dividers: number[] = [];
  for (let at = first; at < lines.length; at += 1) {
    if (at % LINES_A_TURN === 0) yield;
    const text = withoutBlanksAround(lines[at] ?? '');
    if (DIVIDER.test(text)) dividers.push(at);
    if (SEARCH.test(text)) break;
    if (!REPLACE.test(text)) continue;
    const [divider] = dividers;
    if (divider === undefined || dividers.length > 1) {
      report(start + 1, 'the block needs one line of "=======" between the old and the new text');
      return undefined;
    }
    return {search: lines.slice(first, divider), replace: lines.slice(divider + 1, at), next: at + 1};
  }
  report(start + 1, 'the block has no ">>>>>>> REPLACE" line, so something may be cut off');
  return undefined;
}

/** The nearest line above that is no fence, without what Markdown and XML put around a name. */
function nameAbove(lines: readonly ByteString[], at: number, from: number): string | undefined {
  for (let above = at - 1; above >= Math.max(from, at - NAME_WITHIN); above -= 1) {
    const line = withoutBlanksAround(lines[above] ?? '');
    if (line === '' || /^(?:```|~~~|<\/?diff>|<\w+>$)/.test(line)) continue;
    const bare = line
      .replace(/^<path>(.*)<\/path>$/, '$1')
      .replace(/^(?:#+ |\*\*|- |File(?:name)?: ?|path: ?)/i, '')
      .replace(/^[`"*]+|[`"*:]+$/g, '');
    const name = parseBareName(withoutBlanksAround(bare));
    return 'problem' in name ? undefined : name.value;
  }
  return undefined;
}

function* sectionOf(
  {search, replace}: Block,
  path: string,
  line: number,
  report: Report,
): Turns<PatchSection | undefined> {
  const body = yield* hunkLines(search, replace);
  const isEmpty = search.every(text => withoutBlanksAround(text) === '');
  if (!body.some(({kind}) => kind !== ' ')) {
    report(line, 'the old and the new text are equal, so the block changes nothing');
    return undefined;
  }
  // Without old text there is nothing to find: it is a new file.
  if (isEmpty) {
    const added = replace.map((text): HunkLine => ({kind: '+', text: `${text}\n`}));
    return {kind: 'create', line, path, executable: false, hunks: [{line, oldStart: 0, lines: added}]};
  }
  const hunk = {line, oldStart: undefined, hasNoLineNumber: true, lines: body};
  return {kind: 'modify', line, path, executable: undefined, hunks: [hunk]};
}

/** Lines that are in both are kept, so that they stay as they are in the file. */
function* hunkLines(
  search: readonly ByteString[],
  replace: readonly ByteString[],
): Turns<readonly HunkLine[]> {
  const body: HunkLine[] = [];
  let old = 0;
  const push = (kind: HunkLine['kind'], texts: readonly ByteString[]): void => {
    for (const text of texts) body.push({kind, text: `${text}\n`});
  };
  for (const edit of diffLines(search, replace)) {
    yield;
    push(' ', search.slice(old, edit.oldStart));
    old = edit.oldStart + edit.oldCount;
    push('-', search.slice(edit.oldStart, old));
    push('+', replace.slice(edit.newStart, edit.newStart + edit.newCount));
  }
  push(' ', search.slice(old));
  return body;
}
