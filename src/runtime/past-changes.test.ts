import {appendFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {tempDirectory} from '../../test/support/open-test-runtime.ts';
import {systemClock} from '../core/clock.ts';
import {pastChanges} from './past-changes.ts';
import {openSession, type Session} from './session.ts';

const ioError = (path: string, error: string, operation: string) => ({
  code: 'io_error',
  message: `Could not ${operation} ${JSON.stringify(path)}: ${error}. Check permissions and free space.`,
  retryable: true,
  details: {path, error, operation},
});

async function sessionOf(directory: string): Promise<Session> {
  const session = await openSession({directory, workspace: undefined, clock: systemClock});
  if (!session.ok) throw new Error(session.error.message);
  onTestFinished(async () => void (await session.value.close()));
  return session.value;
}

describe('review R18: what the log says of changes', () => {
  const HASH = 'a'.repeat(64);

  test('each change, whole, and nothing that is none', async () => {
    const directory = await tempDirectory();
    const session = await sessionOf(directory);
    const change = {step: 1, changed_files: ['a', 7, 'b'], undo_record_sha256: HASH};
    session.emit('PATCH_APPLIED', change);
    session.emit('PATCH_APPLIED', {...change, step: 2, undoes: 1});
    session.emit('PATCH_APPLIED', {...change, step: '3'});
    session.emit('PATCH_APPLIED', {...change, undo_record_sha256: null});
    session.emit('PATCH_APPLIED', {...change, changed_files: 'a'});
    session.emit('PATCH_APPLIED', {...change, step: 4, undoes: '1'});
    session.emit('OTHER', change);
    expect(await pastChanges(directory)).toEqual({
      ok: true,
      value: {
        directory,
        changes: [
          {step: 1, files: ['a', 'b'], recordHash: HASH, undoes: undefined},
          {step: 2, files: ['a', 'b'], recordHash: HASH, undoes: 1},
          {step: 4, files: ['a', 'b'], recordHash: HASH, undoes: undefined},
        ],
      },
    });
  });

  test('a log that was changed is not believed, and half a line is no harm', async () => {
    const directory = await tempDirectory();
    const session = await sessionOf(directory);
    session.emit('PATCH_APPLIED', {step: 1, changed_files: ['a'], undo_record_sha256: HASH});
    const path = join(directory, 'events.jsonl');
    await appendFile(path, '{"seq":');
    expect(await pastChanges(directory)).toMatchObject({ok: true, value: {changes: [{step: 1}]}});
    await appendFile(path, '\n');
    expect(await pastChanges(directory)).toEqual({
      ok: false,
      error: {
        code: 'io_error',
        message: `${path} was changed after it was written, so what it says of earlier steps cannot be trusted. Nothing was undone.`,
        retryable: true,
        details: {path, error: 'log_tampered', operation: 'undo'},
      },
    });
    await rm(path);
    expect(await pastChanges(directory)).toEqual({ok: false, error: ioError(path, 'ENOENT', 'read')});
  });
});
