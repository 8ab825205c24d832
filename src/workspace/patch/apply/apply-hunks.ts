import type {Json} from '../../../core/json.ts';
import {LINES_A_TURN, type Turns} from '../../turns.ts';
import type {ByteString} from '../byte-string.ts';
import type {LineNumbers} from '../line-numbers.ts';
import type {Hunk, HunkLine} from '../patch.ts';
import {TextBuilder} from '../text-builder.ts';
import {MismatchExplainer} from './explain-mismatch.ts';
import {LineIndex, type SearchAllowance} from './line-index.ts';
import type {TextLines} from './text-lines.ts';

/** A hunk whose place is known. */
export interface LocatedHunk {
  /** Index of the line of the old file where it begins. */
  readonly at: number;
  /** `at` minus where the hunk said it was. */
  readonly offset: number;
  /** With the line endings of the file. */
  readonly lines: readonly HunkLine[];
}

export interface HunkProblem {
  /** 1-based number of the hunk in its section. */
  readonly hunk: number;
  /** Line of the patch text. */
  readonly line: number;
  readonly text: string;
  readonly detail: {readonly [name: string]: Json};
}

export interface HunkResult {
  readonly content: ByteString;
  readonly located: readonly LocatedHunk[];
  readonly problems: readonly HunkProblem[];
}

const MAX_COMPARISONS = 10_000_000;
/** Explaining is for people: nobody reads the hundredth. */
const MAX_EXPLAINED = 20;

/**
 * Applies the hunks of one section, fuzz 0. A hunk goes where its header says if its old lines are
 * there; elsewhere only if they occur exactly once. If an earlier hunk was found elsewhere, or the file changed
 * since it was read, the numbers are not trusted. `content` of the result counts only where there are no problems.
 */
export function* applyHunks(
  file: TextLines,
  hunks: readonly Hunk[],
  numbers: LineNumbers = 'unread',
): Turns<HunkResult> {
  const allowance: SearchAllowance = {comparisons: MAX_COMPARISONS};
  const isCarried = yield* needsCarriageReturns(file, hunks);
  const explainer = new MismatchExplainer(file);
  const located: LocatedHunk[] = [];
  const problems: HunkProblem[] = [];
  const content = new TextBuilder();
  let index: LineIndex | undefined;
  let copied = 0;
  const changed = numbers === 'changed';
  let trusted = !changed;

  let seen = 0;
  for (const [number, hunk] of hunks.entries()) {
    // A short hunk may be one of very many.
    seen += 1 + hunk.lines.length;
    if (seen >= LINES_A_TURN) {
      seen = 0;
      yield;
    }
    let lines = isCarried ? yield* withCarriageReturns(hunk.lines) : hunk.lines;
    const {anywhere = false} = hunk;
    const block = yield* textsOf(lines, '+');
    const stated = statedIndex(hunk, block.length);
    const refuse = (text: string, detail: HunkProblem['detail'] = {}): void => {
      const where = anywhere ? {} : {stated_line: stated + 1};
      problems.push({hunk: number + 1, line: hunk.line, text, detail: {...where, ...detail}});
    };
    let at = stated;
    if (block.length === 0) {
      // W15: without a line of context only the end of the file can be verified; elsewhere the read lock vouches
      // for the line numbers, as long as the patch itself has not shown them to be wrong.
      const isVouched = trusted && stated <= file.count && numbers === 'as_read';
      const isAtEnd = stated === file.count && !changed;
      if (hunk.oldStart === undefined || !(isAtEnd || isVouched)) {
        refuse(
          anywhere
            ? 'it only adds lines and has neither context nor line numbers; add the lines around it'
            : 'it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it',
        );
        continue;
      }
      if (stated === file.count && file.count > 0 && !file.endsWithNewline) {
        refuse(
          'the last line of the file has no newline, so nothing can be added behind it without that line',
        );
        continue;
      }
    } else if (anywhere || !trusted || !file.matches(yield* joined(block), block.length, stated)) {
      index ??= yield* LineIndex.of(file);
      const places = yield* index.occurrences(block, 6, allowance);
      const open =
        anywhere && places !== undefined && places.length <= 1 ? yield* atOpenEnd(file, lines) : undefined;
      // The end of a file without a last newline is a place as well.
      if (open !== undefined && places?.length === 1) places.push(file.count - block.length);
      if (places?.length === 1) at = places[0] ?? stated;
      else if (open !== undefined && places?.length === 0) {
        lines = open;
        at = file.count - block.length;
      } else if (places === undefined) {
        const why = anywhere ? 'it has no line numbers' : 'it is not at the line it states';
        refuse(`${why}, and there is too much to search; give it the right line numbers`);
        continue;
      } else if (places.length > 1) {
        const where = places.map(place => place + 1);
        const advice = anywhere
          ? 'add context until they occur once'
          : changed
            ? 'the file changed since it was read, so its line numbers do not count: read it again or add context'
            : 'add context or correct its line number';
        refuse(`its old lines occur more than once (at lines ${where.join(', ')}); ${advice}`, {
          hint: 'ambiguous',
          places: where,
        });
        continue;
      } else {
        const explained =
          problems.length < MAX_EXPLAINED
            ? yield* explainer.explain({lines: block, result: yield* textsOf(lines, '-')}, stated)
            : {text: 'its old lines are not in the file', detail: {}};
        refuse(explained.text, explained.detail);
        continue;
      }
    }
    if (at < copied) {
      refuse(`it belongs at line ${at + 1}, before the end of an earlier hunk; hunks go from top to bottom`);
      continue;
    }
    const end = at + block.length;
    if (end < file.count && lastNew(lines)?.endsWith('\n') === false) {
      refuse(
        `it says that its last line ends the file without a newline, but the file goes on behind line ${end}`,
      );
      continue;
    }
    if (at !== stated && !anywhere) trusted = false;
    content.push(file.slice(copied, at));
    for (const [index, line] of lines.entries()) {
      if (index % LINES_A_TURN === LINES_A_TURN - 1) yield;
      if (line.kind !== '-') content.push(line.text);
    }
    copied = end;
    located.push({at, offset: anywhere ? 0 : at - stated, lines});
  }
  content.push(file.slice(copied, file.count));
  return {content: content.finish(), located, problems};
}

function statedIndex(hunk: Hunk, oldLines: number): number {
  const start = hunk.oldStart ?? 0;
  return oldLines === 0 ? start : Math.max(0, start - 1);
}

/**
 * For a hunk without line numbers that ends where the file does, which has no newline there: nobody writes a
 * "\\ No newline" line into such a hunk, so its last lines have none either. Undefined where it does not fit.
 */
function* atOpenEnd(file: TextLines, lines: readonly HunkLine[]): Turns<readonly HunkLine[] | undefined> {
  if (file.endsWithNewline) return undefined;
  const bare = (text: ByteString): ByteString => text.replace(/\r?\n$/, '');
  const last = lines.findLastIndex(({kind}) => kind !== '+');
  const open = lines.flatMap((line, at): HunkLine[] => {
    if (at !== last) return [line];
    const {kind, text} = line;
    if (kind === '-' || at === lines.length - 1) return [{kind, text: bare(text)}];
    return [
      {kind: '-', text: bare(text)},
      {kind: '+', text},
    ];
  });
  const end = open.findLastIndex(({kind}) => kind !== '-');
  const ending = open[end];
  if (ending?.kind === '+') open[end] = {kind: '+', text: bare(ending.text)};
  const block = yield* textsOf(open, '+');
  return file.matches(yield* joined(block), block.length, file.count - block.length) ? open : undefined;
}

/** The lines of one side: without those of the other kind. */
function* textsOf(lines: readonly HunkLine[], without: '-' | '+'): Turns<ByteString[]> {
  const texts: ByteString[] = [];
  for (const [at, {kind, text}] of lines.entries()) {
    if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
    if (kind !== without) texts.push(text);
  }
  return texts;
}

/** The text of very many lines. */
export function* joined(lines: readonly ByteString[]): Turns<ByteString> {
  const text = new TextBuilder();
  for (const [at, line] of lines.entries()) {
    if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
    text.push(line);
  }
  return text.finish();
}

function lastNew(lines: readonly HunkLine[]): ByteString | undefined {
  return lines.findLast(line => line.kind !== '-')?.text;
}

/**
 * A patch with LF on every line, for a file with CRLF on every line: models write no CR. Such a patch
 * could match nothing as it stands, so it is read as if it had the endings of the file. Anything mixed
 * is left alone.
 */
function* needsCarriageReturns(file: TextLines, hunks: readonly Hunk[]): Turns<boolean> {
  let seen = 0;
  for (const {lines} of hunks) {
    for (const {text} of lines) {
      seen += 1;
      if (seen % LINES_A_TURN === 0) yield;
      if (text.endsWith('\r\n')) return false;
    }
  }
  return yield* file.isCrlf();
}

function* withCarriageReturns(lines: readonly HunkLine[]): Turns<readonly HunkLine[]> {
  const carried: HunkLine[] = [];
  for (const [at, {kind, text}] of lines.entries()) {
    if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
    carried.push({kind, text: text.endsWith('\n') ? `${text.slice(0, -1)}\r\n` : text});
  }
  return carried;
}
