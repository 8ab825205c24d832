import {markInline} from './markdown/mark-inline.ts';
import {plainTextOf} from './markdown/plain-text-of.ts';
import type {Segment} from './markdown/segments-of.ts';

/** A heading and what stands under it. Section 0 is what stands before the first heading. */
export interface PageSection {
  readonly number: number;
  /** 1 to 6; 0 before the first heading. */
  readonly level: number;
  /** Plain text on one line, cut where it is no heading any more. */
  readonly heading: string;
  readonly start: number;
  /** With the sections below it. */
  readonly end: number;
  /** The same as indices of segments. */
  readonly first: number;
  readonly behind: number;
  /** The section that it is a part of; undefined at the top. */
  readonly parent: number | undefined;
}

const LONGEST_HEADING = 120;

/** The sections of a document in order; the number of a section is its index. */
export function sectionsOf(markdown: string, segments: readonly Segment[]): readonly PageSection[] {
  const marks = segments.flatMap((segment, index) => (segment.level > 0 ? [index] : []));
  const ends = subtreeEnds(marks.map(index => segments[index]?.level ?? 0));
  const startOf = (index: number): number => segments[index]?.start ?? markdown.length;
  const behindOf = (mark: number): number => marks[mark] ?? segments.length;
  const firstHeading = behindOf(0);
  const sections: PageSection[] = [
    {
      number: 0,
      level: 0,
      heading: '',
      start: 0,
      end: startOf(firstHeading),
      first: 0,
      behind: firstHeading,
      parent: undefined,
    },
  ];
  const open: PageSection[] = [];
  for (const [mark, first] of marks.entries()) {
    const {level, block} = segments[first] as Segment;
    while ((open.at(-1)?.level ?? 0) >= level) open.pop();
    const behind = behindOf(ends[mark] ?? marks.length);
    const section = {
      number: mark + 1,
      level,
      heading: plainHeading(block.heading ?? ''),
      start: startOf(first),
      end: startOf(behind),
      first,
      behind,
      parent: open.at(-1)?.number,
    };
    sections.push(section);
    open.push(section);
  }
  return sections;
}

/** For each heading, the index of the next one that is not below it. */
function subtreeEnds(levels: readonly number[]): readonly number[] {
  const ends: number[] = new Array(levels.length).fill(levels.length);
  const open: number[] = [];
  for (const [index, level] of levels.entries()) {
    for (let last = open.at(-1); last !== undefined && (levels[last] ?? 0) >= level; last = open.at(-1)) {
      ends[last] = index;
      open.pop();
    }
    open.push(index);
  }
  return ends;
}

function plainHeading(heading: string): string {
  const source = heading.slice(0, 8 * LONGEST_HEADING);
  const marks = new Uint8Array(source.length);
  markInline(source, 0, source.length, marks);
  const {text} = plainTextOf(source, marks);
  if (text.length <= LONGEST_HEADING) return text;
  const end =
    (text.charCodeAt(LONGEST_HEADING - 1) & 0xfc00) === 0xd800 ? LONGEST_HEADING - 1 : LONGEST_HEADING;
  return `${text.slice(0, end)}…`;
}
