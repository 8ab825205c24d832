import {contentStart} from './white-space.ts';

/** An open code fence: what has to be seen for it to close. */
export interface Fence {
  readonly mark: '`' | '~';
  readonly length: number;
  /** A fence in a list item also ends where the item does. */
  readonly inItem: boolean;
}

// CommonMark 4.5: the info string of a backtick fence holds no backtick.
const OPENING = /^([ \t]*)(`{3,}(?=[^`]*$)|~{3,})/;
const ITEM_MARKER = /^[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]/;
const INDENTED = /^(?: {2}|\t)/;

/**
 * FR-WF-CHK-CODE-01. Outside lists a fence is indented by three blanks at most; in a list it may be
 * indented as deep as its item, or follow the marker of the item.
 */
export function openingFence(line: string, inList: boolean): Fence | undefined {
  const marker = inList ? (ITEM_MARKER.exec(line)?.[0] ?? '') : '';
  const [, indent = '', fence] = OPENING.exec(line.slice(marker.length)) ?? [];
  if (fence === undefined) return undefined;
  const inItem = marker !== '' || (inList && INDENTED.test(indent));
  if (!inItem && (indent.length > 3 || indent.includes('\t'))) return undefined;
  return {mark: fence.startsWith('`') ? '`' : '~', length: fence.length, inItem};
}

/** A closing fence is at least as long as the opening one, of the same character, with nothing behind it. */
export function closesFence(line: string, fence: Fence): boolean {
  const mark = line.trim();
  if (mark.length < fence.length) return false;
  for (const character of mark) if (character !== fence.mark) return false;
  return true;
}

/** A line that is indented less than the item ends an unclosed fence inside it. */
export function leavesItem(line: string, fence: Fence): boolean {
  return fence.inItem && !INDENTED.test(line) && contentStart(line, 0, line.length) < line.length;
}
