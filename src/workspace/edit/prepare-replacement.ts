import {isUtf8} from 'node:buffer';
import {fail} from '../../core/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Deadline} from '../deadline.ts';
import {type FileSystem, MAX_WHOLE_FILE_BYTES} from '../file-system.ts';
import type {ReadLedger} from '../read-ledger.ts';
import {fileTooLarge} from '../refusals.ts';
import {quotePath, type WritablePath} from '../workspace-path.ts';
import {type PreparedChange, prepareChange, readBasis} from './prepare-write.ts';
import {type ReplacedMatch, replaceExact} from './replace-exact.ts';

export interface ReplacementRequest {
  readonly path: WritablePath;
  readonly oldString: string;
  readonly newString: string;
}

export interface PreparedReplacement extends PreparedChange {
  readonly match: ReplacedMatch;
}

/** str_replace: worked out on the file as this session has read it; `commit` makes it. */
export async function prepareReplacement(
  fileSystem: FileSystem,
  ledger: ReadLedger,
  {path, oldString, newString}: ReplacementRequest,
  deadline?: Deadline,
): Promise<Result<PreparedReplacement>> {
  const before = await readBasis(fileSystem, ledger, path, deadline);
  if (!before.ok) return before;
  const {content} = before.value;
  if (!isUtf8(content)) return fail('binary_file', `${quotePath(path)} is not UTF-8 text.`, {path});
  const replaced = replaceExact(path, content, oldString, newString);
  if (!replaced.ok) return replaced;
  const {content: after, match} = replaced.value;
  if (after.length > MAX_WHOLE_FILE_BYTES) return fileTooLarge(path, after.length);
  return ok({...prepareChange(path, before.value, after), match});
}
