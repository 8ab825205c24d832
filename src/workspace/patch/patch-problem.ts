import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {FailureCode} from '../../core/failure/failure-codes.ts';
import type {Json} from '../../core/json.ts';
import type {Err} from '../../core/result.ts';

/** One reason why a parsed patch does not apply. */
export interface PatchProblem {
  readonly failure: Failure;
  readonly detail: {readonly [name: string]: Json};
}

const NAMED = 5;
const LISTED = 50;
/** With several, the one that says most about the intent of the patch gives the code. */
const ORDER: readonly FailureCode[] = ['path_escape', 'symlink_blocked', 'not_a_file', 'file_not_found'];

/** A hunk or section that cannot be applied. */
export function hunkProblem(message: string, detail: PatchProblem['detail']): PatchProblem {
  return {failure: fail('patch_hunk_fail', message).error, detail: {...detail, message}};
}

/** A path that cannot be used. */
export function pathProblem(failure: Failure, line: number): PatchProblem {
  return {
    failure,
    detail: {...failure.details, patch_line: line, code: failure.code, message: failure.message},
  };
}

/** All problems as one failure. */
export function patchFailure(problems: readonly [PatchProblem, ...PatchProblem[]]): Err<Failure> {
  const rank = ({failure}: PatchProblem): number => {
    const found = ORDER.indexOf(failure.code);
    if (found !== -1) return found;
    return failure.code === 'patch_hunk_fail' ? ORDER.length + 1 : ORDER.length;
  };
  const leading = problems.reduce((best, problem) => (rank(problem) < rank(best) ? problem : best));
  const named = [leading, ...problems.filter(problem => problem !== leading)].map(
    ({failure}) => failure.message,
  );
  const rest = named.length - NAMED;
  const sentences = named.slice(0, NAMED);
  if (rest > 0) sentences.push(`${rest} more ${rest === 1 ? 'problem' : 'problems'}.`);
  const message = `${sentences.join(' ')} Nothing was written.`;
  const listed = problems.slice(0, LISTED).map(({detail}) => detail);
  const isSingle = problems.length === 1 && leading.failure.code !== 'patch_hunk_fail';
  const details = isSingle ? leading.failure.details : {...leading.failure.details, problems: listed};
  return {ok: false, error: {...leading.failure, message, details}};
}
