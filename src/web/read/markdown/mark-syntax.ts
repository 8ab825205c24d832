import {closesFence, type Fence, openingFence} from '../../chunk/fence.ts';
import {contentStart} from '../../chunk/white-space.ts';
import {markInline} from './mark-inline.ts';
import type {Segment} from './segments-of.ts';
import {SYNTAX} from './syntax.ts';

const HEADING = /^ {0,3}#{1,6}(?=\s|$)/;
const QUOTE = /^ {0,3}(?:> ?)+/;
/** An item's bullet. Numbers stay text: a sentence of a plain-text page may start a line with one. */
const BULLET = /^\s*[-+*](?=\s|$)/;
const DELIMITER_ROW = /^\s*\|?[\s:|-]*-[\s:|-]*$/;
const RULE = /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;
const TABLE_ROW = /^\s*\|/;
/** What decides about a line stands at its start; the rest may be megabytes long. */
const LOOK_AHEAD = 256;

/** For each UTF-16 unit of a document, one of `SYNTAX`. Linear in its length. */
export function markSyntax(markdown: string, segments: readonly Segment[]): Uint8Array {
  const marks = new Uint8Array(markdown.length);
  for (const segment of segments) {
    markBlock(markdown, segment, marks);
    dropEmptied(markdown, segment, marks);
  }
  return marks;
}

/** Line by line; what lies between two fences, or a fence and an end, is inline text. */
function markBlock(markdown: string, {start, end, block}: Segment, marks: Uint8Array): void {
  const isList = block.kind === 'list';
  let fence: Fence | undefined;
  let inlineFrom = start;
  for (let from = start; from < end; ) {
    const newline = markdown.indexOf('\n', from);
    const to = newline < 0 || newline >= end ? end : newline;
    const line = markdown.slice(from, to);
    if (fence) {
      if (closesFence(line, fence)) {
        marks.fill(SYNTAX.block, from, to);
        fence = undefined;
      }
      inlineFrom = to;
    } else {
      fence = block.kind === 'text' ? undefined : openingFence(line, isList);
      if (fence) {
        markInline(markdown, inlineFrom, from, marks);
        marks.fill(SYNTAX.block, from, to);
        inlineFrom = to;
      } else {
        markLine(line, from, marks);
      }
    }
    from = to + 1;
  }
  markInline(markdown, inlineFrom, end, marks);
}

function markLine(line: string, from: number, marks: Uint8Array): void {
  const start = line.slice(0, LOOK_AHEAD);
  if (
    line.length < LOOK_AHEAD &&
    (RULE.test(start) || (TABLE_ROW.test(start) && DELIMITER_ROW.test(start)))
  ) {
    marks.fill(SYNTAX.block, from, from + line.length);
    return;
  }
  let at = QUOTE.exec(start)?.[0].length ?? 0;
  at += (HEADING.exec(start.slice(at)) ?? BULLET.exec(start.slice(at)))?.[0].length ?? 0;
  marks.fill(SYNTAX.block, from, from + at);
  if (!TABLE_ROW.test(start)) return;
  for (let bar = line.indexOf('|'); bar >= 0; bar = line.indexOf('|', bar + 1)) {
    if (line.charAt(bar - 1) !== '\\') marks[from + bar] = SYNTAX.block;
  }
}

/**
 * Without links, a block starts with what is not blank, as it does with them; a block of links without text is
 * nothing. So counts of tokens add up from block to block in both forms.
 */
function dropEmptied(markdown: string, {start, end, block}: Segment, marks: Uint8Array): void {
  const from = Math.max(start, block.start);
  const first = contentStart(markdown, from, end);
  if (first === end || marks[first] !== SYNTAX.link) return;
  let at = first;
  while (at < end && (marks[at] === SYNTAX.link || contentStart(markdown, at, at + 1) > at)) {
    marks[at] = SYNTAX.link;
    at += 1;
  }
  if (at === end) marks.fill(SYNTAX.link, from, first);
}
