// Plans str_replace: all edits of one file, or none.

import {isUtf8} from 'node:buffer';
import {yieldAfter} from '../../core/async.ts';
import type {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../jail/jail.ts';
import {inTurns, overdue, type Turns} from '../open-file.ts';
import {changedWindow, countLines} from '../patch/changed-window.ts';
import {byteString} from '../patch/patch.ts';
import type {ReadTracker} from '../read-tracker.ts';
import {fileTooLarge, MAX_WHOLE_FILE_BYTES} from '../refusals.ts';
import {quotePath, type WritablePath} from '../workspace-path.ts';
import {changeTo, type FileChange, type FileState} from './file-change.ts';
import {readBaseVersion} from './prepare-write.ts';
import {type ReplacedMatch, replaceExact} from './replace-exact.ts';

export interface TextEdit {
  readonly oldString: string;
  readonly newString: string;
  /** It may occur more than once, and each place is replaced. */
  readonly replaceAll: boolean;
  /** Of several places the nearest to this line, from 1. */
  readonly nearLine?: number | undefined;
}

export interface ReplacementRequest {
  readonly path: WritablePath;
  /** In order, each in the result of the one before. */
  readonly edits: readonly TextEdit[];
}

export interface PreparedReplacement {
  readonly change: FileChange & {readonly new: FileState};
  /** What came of all edits, with line numbers as they were before the first. */
  readonly match: ReplacedMatch;
  /** What came of each, with line numbers as they were before it. */
  readonly matches: readonly ReplacedMatch[];
}

/** str_replace: worked out on the file as this session has read it; all edits or none. `commit` makes it. */
export async function prepareReplacement(
  workspace: Workspace,
  tracker: ReadTracker,
  {path, edits}: ReplacementRequest,
  deadline?: Deadline,
): Promise<Result<PreparedReplacement>> {
  const before = await readBaseVersion(workspace, tracker, path, deadline);
  if (!before.ok) return before;
  const {bytes: original} = before.value;
  if (!isUtf8(original)) return fail('binary_file', `${quotePath(path)} is not UTF-8 text.`, {path});
  let content = original;
  const matches: ReplacedMatch[] = [];
  for (const {oldString, newString, ...options} of edits) {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    const turned = await inTurns(replaceExact(path, content, oldString, newString, options), deadline);
    if (!turned.ok) return turned;
    const replaced = turned.value;
    if (!replaced.ok) {
      const number = {edit: matches.length + 1, edits: edits.length};
      return edits.length === 1 ? replaced : inEdit(replaced, number, original, oldString);
    }
    content = replaced.value.content;
    if (content.length > MAX_WHOLE_FILE_BYTES) return fileTooLarge(path, content.length);
    matches.push(replaced.value.match);
    await yieldAfter(content.length);
  }
  const [only, ...others] = matches;
  const match =
    only !== undefined && others.length === 0
      ? ok(only)
      : await inTurns(together(original, content, matches), deadline);
  if (!match.ok) return match;
  const change = await changeTo(path, before.value, content, deadline);
  return change.ok ? ok({change: change.value, match: match.value, matches}) : change;
}

function inEdit(
  {error}: Err<Failure>,
  {edit, edits}: {readonly edit: number; readonly edits: number},
  original: Uint8Array,
  oldString: string,
): Err<Failure> {
  const earlier = edit === 2 ? 'edit 1' : `the ${edit - 1} edits before it`;
  const isGone = error.code === 'no_match' && edit > 1 && Buffer.from(original).includes(oldString);
  const hint = isGone
    ? ` It was there before ${earlier}: each edit works on the result of the one before.`
    : '';
  const message = `Edit ${edit} of ${edits}: ${error.message}${hint} Nothing was written.`;
  return {ok: false, error: {...error, message, details: {...error.details, edit}}};
}

function* together(
  before: Uint8Array,
  after: Uint8Array,
  matches: readonly ReplacedMatch[],
): Turns<ReplacedMatch> {
  const {linesBefore, oldText} = yield* changedWindow(byteString(before), byteString(after), 0);
  const first = linesBefore + 1;
  const adapted = matches.find(({line_endings}) => line_endings !== undefined);
  return {
    lines: [first, Math.max(first, linesBefore + (yield* countLines(oldText)))],
    count: matches.reduce((sum, {count}) => sum + count, 0),
    ...(adapted === undefined ? {} : {line_endings: 'crlf' as const}),
  };
}
