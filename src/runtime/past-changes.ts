import {join} from 'node:path';
import {fail} from '../core/failure/fail.ts';
import type {PastChange, PastChanges} from '../core/past-change.ts';
import {ok, type Result} from '../core/result.ts';
import type {EventPayload} from './events/run-event.ts';
import {verifyLog} from './events/verify-log.ts';

/** review R18: what the log of a run, which is verified first, says of its changes. */
export async function pastChanges(directory: string): Promise<Result<PastChanges>> {
  const changes: PastChange[] = [];
  const path = join(directory, 'events.jsonl');
  const verified = await verifyLog(path, ({event, payload}) => {
    const change = event === 'PATCH_APPLIED' ? changeOf(payload) : undefined;
    if (change !== undefined) changes.push(change);
  });
  if (!verified.ok) return verified;
  if (verified.value.state !== 'tampered') return ok({directory, changes});
  return fail(
    'io_error',
    `${path} was changed after it was written, so what it says of earlier steps cannot be trusted. Nothing was undone.`,
    {path, error: 'log_tampered', operation: 'undo'},
  );
}

function changeOf({step, changed_files, undo_record_sha256, undoes}: EventPayload): PastChange | undefined {
  if (typeof step !== 'number' || typeof undo_record_sha256 !== 'string' || !Array.isArray(changed_files))
    return undefined;
  const files = changed_files.filter(file => typeof file === 'string');
  return {
    step,
    files,
    recordHash: undo_record_sha256,
    undoes: typeof undoes === 'number' ? undoes : undefined,
  };
}
