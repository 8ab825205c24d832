import type {Turns} from '../turns.ts';
import type {ByteString} from './byte-string.ts';
import {changedWindow, countLines} from './diff/changed-window.ts';
import {diffLines} from './diff/diff-lines.ts';
import type {LineEdit} from './diff/line-edit.ts';
import {splitLines} from './split-lines.ts';

/** review R12: above it lines that stayed are not searched for between the first and the last that differ. */
const MAX_SEARCHED_LINES = 40_000;

/** Which lines of a content become which of another, in order. */
export function* lineEdits(before: ByteString, after: ByteString): Turns<readonly LineEdit[]> {
  if (before === after) return [];
  const {oldText, newText, linesBefore} = yield* changedWindow(before, after, 0);
  const oldCount = yield* countLines(oldText);
  const newCount = yield* countLines(newText);
  if (oldCount + newCount > MAX_SEARCHED_LINES) {
    return [{oldStart: linesBefore, oldCount, newStart: linesBefore, newCount}];
  }
  return diffLines(splitLines(oldText), splitLines(newText)).map(edit => ({
    ...edit,
    oldStart: edit.oldStart + linesBefore,
    newStart: edit.newStart + linesBefore,
  }));
}
