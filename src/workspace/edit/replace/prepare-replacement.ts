import {isUtf8} from 'node:buffer';
import {yieldAfter} from '../../../core/async/yield-after.ts';
import {fail} from '../../../core/failure/fail.ts';
import type {Failure} from '../../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../../core/result.ts';
import {type Deadline, overdue} from '../../deadline.ts';
import type {FileSystem} from '../../file-system.ts';
import {MAX_WHOLE_FILE_BYTES} from '../../max-whole-file-bytes.ts';
import {byteString} from '../../patch/byte-string.ts';
import {changedWindow, countLines} from '../../patch/diff/changed-window.ts';
import type {ReadTracker} from '../../read/read-tracker.ts';
import {fileTooLarge} from '../../refusals.ts';
import {inTurns, type Turns} from '../../turns.ts';
import {quotePath, type WritablePath} from '../../workspace-path.ts';
import {type PreparedChange, prepareChange, readBaseVersion} from './prepare-write.ts';
import {type ReplacedMatch, replaceExact} from './replace-exact.ts';

export interface TextEdit {
  readonly oldString: string;
  readonly newString: string;
  /** It may occur more than once, and each place is replaced. */
  readonly replaceAll: boolean;
}

export interface ReplacementRequest {
  readonly path: WritablePath;
  /** In order, each in the result of the one before. */
  readonly edits: readonly TextEdit[];
}

export interface PreparedReplacement extends PreparedChange {
  /** What came of all edits, with line numbers as they were before the first. */
  readonly match: ReplacedMatch;
  /** What came of each, with line numbers as they were before it. */
  readonly matches: readonly ReplacedMatch[];
}

/** str_replace: worked out on the file as this session has read it; all edits or none. `commit` makes it. */
export async function prepareReplacement(
  fileSystem: FileSystem,
  tracker: ReadTracker,
  {path, edits}: ReplacementRequest,
  deadline?: Deadline,
): Promise<Result<PreparedReplacement>> {
  const before = await readBaseVersion(fileSystem, tracker, path, deadline);
  if (!before.ok) return before;
  const {content: original} = before.value;
  if (!isUtf8(original)) return fail('binary_file', `${quotePath(path)} is not UTF-8 text.`, {path});
  let content = original;
  const matches: ReplacedMatch[] = [];
  for (const {oldString, newString, replaceAll} of edits) {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    const turned = await inTurns(replaceExact(path, content, oldString, newString, replaceAll), deadline);
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
  const prepared = await prepareChange(path, before.value, content, deadline);
  return prepared.ok ? ok({...prepared.value, match: match.value, matches}) : prepared;
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
