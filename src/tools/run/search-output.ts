// Searches the output of a command, by text or by regular expression.
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import {cleanLine} from '../../sandbox/preview-output.ts';
import type {Ripgrep} from '../../workspace/search/ripgrep.ts';
import {
  jsonBytes,
  LEFT_OUT,
  type LineRange,
  MAX_LINE_CHARS,
  type OutputSource,
  outputLines,
  shorten,
  whyWrong,
} from './output-keeper.ts';

export interface OutputQuery extends LineRange {
  readonly deadline: Deadline;
  readonly text: string;
  readonly isRegex: boolean;
  readonly contextLines: number;
}

export interface OutputMatch {
  readonly line: number;
  readonly content: string;
  readonly context_before: string[];
  readonly context_after: string[];
}

export interface FoundOutput {
  readonly total_lines: number;
  readonly complete: boolean;
  readonly start_line: number;
  readonly end_line: number;
  readonly matches: OutputMatch[];
  readonly total_matches: number;
  readonly truncated: boolean;
  readonly next?: {readonly start_line: number};
}

/** `{"line":…,"content":…}` without its texts. */
const MATCH_BYTES = 80;
/** More never fit into an answer. */
const MOST_MATCHES = 1000;

/**
 * The lines of an output that match, as a reader sees them. A text is looked for here, in any case; a regular
 * expression is ripgrep's business, which needs linear time for it.
 */
export async function searchOutput(
  source: OutputSource,
  query: OutputQuery,
  ripgrep: () => Promise<Result<Ripgrep>>,
): Promise<Result<FoundOutput>> {
  const {text, isRegex, start, end, maxBytes, contextLines, deadline} = query;
  const maxChars = Math.min(MAX_LINE_CHARS, Math.ceil(maxBytes / 16));
  const wanted = text.toLowerCase();
  const found = isRegex ? await findByRegex(source, query, ripgrep) : undefined;
  if (found !== undefined && !found.ok) return found;
  const numbers = found === undefined ? undefined : new Set(found.value.lines);
  const isMatch = (line: string, number: number): boolean =>
    numbers === undefined ? line.toLowerCase().includes(wanted) : numbers.has(number);

  const matches: OutputMatch[] = [];
  const before: string[] = [];
  let bytes = 0;
  let total = 0;
  let count = 0;
  let isFull = false;
  let isShortened = false;
  let isMarked = false;
  for await (const raw of outputLines(source.file.blocks(), deadline)) {
    total += 1;
    if (source.mayBeMarked && LEFT_OUT.test(raw)) isMarked = true;
    if (total < start - contextLines || total > end + contextLines) continue;
    const line = cleanLine(raw);
    const shown = shorten(line, maxChars);
    const isFound = total >= start && total <= end && isMatch(line, total);
    if (isFound) count += 1;
    if (isFull) continue;
    const size = jsonBytes(shown);
    const following = matches.filter(match => total - match.line <= contextLines);
    const isNew = isFound && matches.length < MOST_MATCHES;
    bytes += size * following.length;
    const around = before.reduce((sum, text) => sum + jsonBytes(text), 0);
    // The first match is shown, if need be without what stands before it.
    if (isNew && matches.length === 0 && size + MATCH_BYTES + around > maxBytes) before.length = 0;
    if (isNew) bytes += size + MATCH_BYTES + before.reduce((sum, text) => sum + jsonBytes(text), 0);
    if (bytes > maxBytes || (isFound && !isNew)) {
      isFull = true;
      continue;
    }
    for (const match of following) match.context_after.push(shown);
    if (isNew) {
      matches.push({line: total, content: shown, context_before: [...before], context_after: []});
      isShortened ||= shown !== line;
    }
    if (contextLines === 0) continue;
    before.push(shown);
    if (before.length > contextLines) before.shift();
  }
  if (deadline.spent) return deadline.failure();
  const wrong = whyWrong(start, end, total);
  if (wrong !== undefined) return wrong;
  const total_matches = found?.value.total ?? count;
  const last = matches.at(-1)?.line;
  const hasMore = matches.length < total_matches;
  return ok({
    total_lines: total,
    complete: !source.isCut && !isMarked,
    start_line: start,
    end_line: Math.min(end, total),
    matches,
    total_matches,
    truncated: hasMore || isShortened || isFull,
    ...(hasMore && last !== undefined ? {next: {start_line: last + 1}} : {}),
  });
}

interface FoundNumbers {
  /** The first ones. */
  readonly lines: readonly number[];
  readonly total: number;
}

async function findByRegex(
  source: OutputSource,
  {text, start, end, deadline}: OutputQuery,
  ripgrep: () => Promise<Result<Ripgrep>>,
): Promise<Result<FoundNumbers>> {
  const program = await ripgrep();
  if (!program.ok) return program;
  const {runRipgrep} = await import('../../workspace/search/ripgrep.ts');
  const {queryArguments} = await import('../../workspace/search/ripgrep.ts');
  const lines: number[] = [];
  let total = 0;
  let rest = '';
  const run = await runRipgrep(program.value, {
    // Of a line nothing is needed but its number.
    args: [
      ...['--text', '--no-heading', '--no-filename', '--line-number', '--max-columns=1'],
      ...queryArguments({text, isRegex: true}, '-'),
    ],
    stdin: cleanBlocks(source, {start, end, deadline}),
    onStdout: part => {
      const [first = '', ...more] = (rest + Buffer.from(part).toString('latin1')).split('\n');
      const whole = [first, ...more];
      rest = whole.pop() ?? '';
      total += whole.length;
      for (const line of whole) {
        if (lines.length === MOST_MATCHES) break;
        lines.push(start - 1 + Number.parseInt(line, 10));
      }
      return true;
    },
    signal: deadline.signal,
  });
  if (!run.ok) return run;
  return deadline.spent ? deadline.failure() : ok({lines, total});
}

/** What ripgrep gets: the lines of the range, as a reader sees them. */
async function* cleanBlocks(
  source: OutputSource,
  {start, end, deadline}: Pick<LineRange, 'start' | 'end' | 'deadline'>,
): AsyncGenerator<Uint8Array> {
  let number = 0;
  let block: string[] = [];
  let chars = 0;
  for await (const line of outputLines(source.file.blocks(), deadline)) {
    number += 1;
    if (number < start) continue;
    if (number > end) break;
    block.push(cleanLine(line), '\n');
    chars += line.length + 1;
    if (chars < BLOCK_CHARS) continue;
    yield Buffer.from(block.join(''));
    block = [];
    chars = 0;
  }
  if (block.length > 0) yield Buffer.from(block.join(''));
}

const BLOCK_CHARS = 65_536;
