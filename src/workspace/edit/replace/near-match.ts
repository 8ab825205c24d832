import {takeStart} from '../../../core/text/take-start.ts';
import {atOnce} from '../../turns.ts';
import {describeDifference} from './describe-difference.ts';
import {findOccurrences} from './find-occurrences.ts';
import {mostSimilarLines} from './most-similar-lines.ts';
import {bare} from './spelling.ts';

export interface NearMatch {
  /** What to do, in a sentence or two. */
  readonly hint: string;
  /** The place that was most likely meant. */
  readonly nearest?: {
    readonly lines: readonly [number, number];
    /** As it is in the file; long ones are cut. */
    readonly text: string;
    readonly differs: readonly string[];
  };
}

/** Above this no candidate is looked for: nothing else runs and no deadline is asked while one is. */
const MAX_CHARACTERS = 1024 * 1024;
const TEXT = new TextDecoder('utf-8', {ignoreBOM: true});
const SHOWN_LINES = 20;
const SHOWN_CHARACTERS = 2000;

/** What a caller who pasted something else than the text may have pasted. */
const REPAIRS: readonly {readonly fault: string; readonly repairs: (wanted: string) => readonly string[]}[] =
  [
    {fault: 'line numbers pasted with the text', repairs: withoutLineNumbers},
    {fault: 'escaped newlines, tabs or quotes (such as \\n) instead of the characters', repairs: unescaped},
    {
      fault: 'real newlines where the file has the characters \\n',
      repairs: wanted => [wanted.replaceAll('\n', '\\n')],
    },
  ];

/**
 * For a text that does not occur: where something like it is, and what differs. It only advises,
 * nothing is ever replaced by it. Linear in the length of the file.
 */
export function nearMatch(content: Uint8Array, wanted: string): NearMatch {
  if (content.length === 0) return {hint: 'The file is empty.'};
  // A character has at most three bytes for each unit, so what is larger need not be decoded to be refused.
  const text = content.length > 3 * MAX_CHARACTERS ? undefined : TEXT.decode(content);
  if (text === undefined || text.length + wanted.length > MAX_CHARACTERS) {
    return {hint: 'The file is too large to look for something like it; read the lines again.'};
  }
  const lines = text.split('\n');
  for (const {fault, repairs} of REPAIRS) {
    const repaired = repairs(wanted).filter(repair => repair !== wanted);
    const found = repaired[0] === undefined ? undefined : findBare(lines, repaired[0]);
    if (repaired[0] === undefined || found === undefined) continue;
    const also = repaired.some(repair => text.includes(repair))
      ? []
      : describeDifference(found.text, repaired[0]).differs;
    const more = also.length === 0 ? '' : `, and differs in ${also.join(', ')}`;
    const what = `old_string has ${fault}${more}. Send ${named(found.lines)} as in the file.`;
    return near(found.lines, found.text, [fault, ...also], `${named(found.lines)}; ${what}`);
  }
  const found = findBare(lines, wanted);
  if (found !== undefined) {
    const {differs, detail} = describeDifference(found.text, wanted, found.lines[0]);
    return near(found.lines, found.text, differs, differing(found.lines, differs, detail));
  }
  const similar = mostSimilarLines(lines, wanted.split('\n'));
  if (similar === undefined) return {hint: 'No line of the file is similar. Read the file again.'};
  const shown = lines.slice(similar[0] - 1, similar[1]).join('\n');
  const {detail} = describeDifference(shown, wanted, similar[0]);
  return near(similar, shown, ['the text'], differing(similar, ['the text'], detail));
}

function near(
  lines: readonly [number, number],
  text: string,
  differs: readonly string[],
  says: string,
): NearMatch {
  const shownLines = text.split('\n').slice(0, Math.min(SHOWN_LINES, lines[1] - lines[0] + 1));
  const shown = takeStart(shownLines.join('\n'), SHOWN_CHARACTERS);
  return {
    hint: `Nearest: ${says}`,
    nearest: {lines, text: shown, differs},
  };
}

function differing(lines: readonly [number, number], differs: readonly string[], detail: string): string {
  return `${named(lines)} ${lines[0] === lines[1] ? 'differs' : 'differ'} in ${differs.join(', ')}. ${detail}`.trim();
}

function named([first, last]: readonly [number, number]): string {
  return first === last ? `line ${first}` : `lines ${first}-${last}`;
}

/** The place that equals `wanted` (its lines with their ends) but for white space, invisible characters and the form of quotes. */
function findBare(
  lines: readonly string[],
  wanted: string,
): {lines: readonly [number, number]; text: string} | undefined {
  const sought = bare(wanted);
  if (sought === '') return undefined;
  const bareLines = lines.map(bare);
  const [start] = atOnce(findOccurrences(bareLines.join(''), sought, 1)).first;
  if (start === undefined) return undefined;
  let first = 0;
  let at = 0;
  for (; at + (bareLines[first] ?? '').length <= start; first += 1) at += (bareLines[first] ?? '').length;
  let last = first;
  for (; at + (bareLines[last] ?? '').length < start + sought.length; last += 1)
    at += (bareLines[last] ?? '').length;
  const ending = last + 1 < lines.length ? '\n' : '';
  return {lines: [first + 1, last + 1], text: lines.slice(first, last + 1).join('\n') + ending};
}

/** `  12<TAB>code`, `12|code`, `12→code`, then `12 | code` and `12: code`: a blank may belong to either side. */
const LINE_NUMBERS = [/^\s*\d+(?:\t|\s?[|│→]|:)/, /^\s*\d+(?:\s?[|│→]|:)\s/];

/** Without the line numbers, where every line has one. */
function withoutLineNumbers(wanted: string): readonly string[] {
  const lines = wanted.split('\n');
  return LINE_NUMBERS.filter(number => lines.every(line => line.trim() === '' || number.test(line))).map(
    number => lines.map(line => line.replace(number, '')).join('\n'),
  );
}

function unescaped(wanted: string): readonly string[] {
  const meaning: Readonly<Record<string, string>> = {n: '\n', r: '\r', t: '\t'};
  return [wanted.replace(/\\([nrt"'`\\])/g, (_, character: string) => meaning[character] ?? character)];
}
