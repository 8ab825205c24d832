import {execFileSync} from 'node:child_process';
import {chmod, mkdir, readdir, readFile, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {tempDirectory} from '../../test/support/open-test-runtime.ts';
import {ownIdentity} from '../system/process.ts';
import {isRunInUse, openRunDirectory} from './run-directory.ts';

async function opened(path: string, workspace?: string) {
  const directory = await openRunDirectory(path, workspace);
  if (!directory.ok) throw new Error(directory.error.message);
  return directory.value;
}

describe('ruling W10: where it may be', () => {
  test('policy: created 0700, with what is above it', async () => {
    const base = await tempDirectory();
    const {path, release} = await opened(join(base, 'a/b'));
    expect(path).toBe(join(base, 'a/b'));
    for (const created of ['a', 'a/b']) expect((await stat(join(base, created))).mode & 0o777).toBe(0o700);
    await release();
  });

  test('ruling W10 outside the workspace, also by way of a link', async () => {
    const base = await tempDirectory();
    const workspace = join(base, 'work');
    await mkdir(join(workspace, 'sub'), {recursive: true});
    await symlink(join(workspace, 'sub'), join(base, 'link'));
    for (const path of ['work', 'work/run', 'work/sub/a/b', 'link', 'link/run', 'x/../work/run']) {
      expect(await openRunDirectory(join(base, path), workspace)).toMatchObject({
        ok: false,
        error: {code: 'io_error', message: expect.stringContaining('inside the workspace')},
      });
    }
    expect(await readdir(join(workspace, 'sub'))).toEqual([]);
    // A common prefix is no containment.
    await (await opened(join(base, 'work2'), workspace)).release();
    await (await opened(base, workspace)).release();
  });

  test('policy: no file, no dangling link, nothing that others can write', async () => {
    const base = await tempDirectory();
    await writeFile(join(base, 'file'), '');
    await symlink('/nowhere/at/all', join(base, 'dangling'));
    await mkdir(join(base, 'shared'));
    await chmod(join(base, 'shared'), 0o777);
    for (const name of ['file', 'file/run', 'dangling', 'dangling/run', 'shared']) {
      expect(await openRunDirectory(join(base, name), undefined)).toMatchObject({
        ok: false,
        error: {code: 'io_error'},
      });
    }
  });
});

describe('artifacts', () => {
  test('policy: are private new files, named relative to the run', async () => {
    const base = await tempDirectory();
    const {saveArtifact, release} = await opened(base);
    expect(await saveArtifact('logs/step_0001_stdout.txt', 'out')).toEqual({
      ok: true,
      value: 'logs/step_0001_stdout.txt',
    });
    const path = join(base, 'logs/step_0001_stdout.txt');
    expect(await readFile(path, 'utf8')).toBe('out');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await saveArtifact('logs/step_0001_stdout.txt', 'x')).toMatchObject({
      ok: false,
      error: {code: 'io_error', details: {error: 'EEXIST'}},
    });
    expect(await readFile(path, 'utf8')).toBe('out');
    await release();
  });

  test('W21: an artifact that still grows is not emptied to make room for later ones', async () => {
    const {streamArtifact, artifacts, release} = await opened(await tempDirectory());
    const streams = [1, 2, 3].map(step => streamArtifact(`output/step_000${step}_stdout.txt`, 100));
    for (const stream of streams) stream.write(Buffer.alloc(40));
    const [server, ...ended] = streams;
    for (const stream of ended) stream.finish();
    const sizes = async () =>
      Promise.all(
        [1, 2, 3].map(async step => {
          const opening = await artifacts.open(`output/step_000${step}_stdout.txt`);
          const file = opening.ok ? opening.value : undefined;
          await file?.close();
          return file?.bytes;
        }),
      );
    expect(await artifacts.trim('output', 80)).toEqual({ok: true, value: undefined});
    expect(await sizes()).toEqual([40, 0, 40]);
    server?.write(Buffer.alloc(10));
    expect(server?.finish()).toMatchObject({ok: true, value: {bytes: 50}});
    expect(await artifacts.trim('output', 80)).toEqual({ok: true, value: undefined});
    expect(await sizes()).toEqual([0, 0, 40]);
    await release();
  });

  test.each([
    'events.jsonl',
    'a',
    '/a/b',
    '../a/b',
    'a/../b',
    'a//b',
    'a/.b',
    'approvals/x.json',
    'a/b/c/d/e',
    'a/b\0',
    'a\\b/c',
  ])('policy: %j is no artifact path', async path => {
    const {saveArtifact, release} = await opened(await tempDirectory());
    await expect(saveArtifact(path, '')).rejects.toThrow('Expected an artifact path');
    await release();
  });
});

describe('one writer', () => {
  test('policy: a second one is refused until the first has released', async () => {
    const base = await tempDirectory();
    const first = await opened(base);
    expect(await openRunDirectory(base, undefined)).toMatchObject({
      ok: false,
      error: {
        code: 'io_error',
        details: {error: 'in_use'},
        message: expect.stringContaining(`process ${process.pid} `),
      },
    });
    await first.release();
    await (await opened(base)).release();
    expect(await readdir(base)).toEqual([]);
  });

  test('policy: of many who try at once, one succeeds', async () => {
    const base = await tempDirectory();
    const all = await Promise.all(Array.from({length: 20}, () => openRunDirectory(base, undefined)));
    expect(all.filter(({ok}) => ok)).toHaveLength(1);
  });

  test('policy: the lock of a dead process is succeeded, by one of many', async () => {
    const base = await tempDirectory();
    const dead = Number(execFileSync(process.execPath, ['-e', 'process.stdout.write(String(process.pid))']));
    await writeFile(join(base, 'lock'), JSON.stringify({...ownIdentity(), pid: dead}));
    const all = await Promise.all(Array.from({length: 20}, () => openRunDirectory(base, undefined)));
    expect(all.filter(({ok}) => ok)).toHaveLength(1);
    expect(await readdir(base)).toEqual(['lock']);
  });

  test('policy: a pid that is used again is not its predecessor', async () => {
    const base = await tempDirectory();
    await writeFile(join(base, 'lock'), JSON.stringify({...ownIdentity(), started: '1'}));
    await (await opened(base)).release();
  });

  test('policy: a process of another machine counts as alive while it touches its lock', async () => {
    const base = await tempDirectory();
    await writeFile(join(base, 'lock'), JSON.stringify({...ownIdentity(), host: 'elsewhere'}));
    expect(await openRunDirectory(base, undefined)).toMatchObject({
      ok: false,
      error: {message: expect.stringContaining('delete')},
    });
  });
});

const ioError = (path: string, error: string, operation: string) => ({
  code: 'io_error',
  message: `Could not ${operation} ${JSON.stringify(path)}: ${error}. Check permissions and free space.`,
  retryable: false,
  details: {path, error, operation},
});

describe('ruling W10: the run directory', () => {
  test('a refusal names the directory and what is wrong with it', async () => {
    const base = await tempDirectory();
    await mkdir(join(base, 'shared'));
    await chmod(join(base, 'shared'), 0o777);
    const refused = (path: string, problem: string) => ({
      ok: false,
      error: {
        code: 'io_error',
        message: `The run directory ${JSON.stringify(path)} ${problem}`,
        retryable: false,
        details: {path, operation: 'open'},
      },
    });
    const inside = join(base, 'shared/run');
    expect(await openRunDirectory(inside, join(base, 'shared'))).toEqual(
      refused(
        inside,
        `is inside the workspace ${JSON.stringify(join(base, 'shared'))}. Use a directory outside it.`,
      ),
    );
    expect(await openRunDirectory(join(base, 'shared'), undefined)).toEqual(
      refused(
        join(base, 'shared'),
        'can be written by other users. Run `chmod 700` on it, or use another path.',
      ),
    );
    // Every directory is inside this workspace.
    expect(await openRunDirectory(join(base, 'run'), '/')).toMatchObject({
      error: {message: expect.stringContaining('is inside the workspace "/"')},
    });
  });

  test('what the system refuses is said with the path as it was written', async () => {
    const base = await tempDirectory();
    await symlink('loop', join(base, 'loop'));
    const path = join(base, 'loop/run');
    expect(await openRunDirectory(path, undefined)).toEqual({
      ok: false,
      error: ioError(path, 'ELOOP', 'open the run directory'),
    });
  });

  test('one that is in use names its process, and is not in use afterwards', async () => {
    const path = await tempDirectory();
    expect(isRunInUse(path)).toBe(false);
    const first = await openRunDirectory(path, undefined);
    expect(isRunInUse(path)).toBe(true);
    const second = await openRunDirectory(path, undefined);
    expect(second.ok ? undefined : second.error).toEqual({
      code: 'io_error',
      message: expect.stringMatching(
        /^The run directory ".*" is in use by process \d+ on .+\. Use another run directory; if that process is gone, delete .*\/lock\.$/,
      ),
      retryable: false,
      details: {path, error: 'in_use', operation: 'lock'},
    });
    if (first.ok) await first.value.release();
    expect(isRunInUse(path)).toBe(false);
  });

  test('a lock that says nothing of its holder belongs to another process', async () => {
    const path = await tempDirectory();
    await writeFile(join(path, 'lock'), 'no holder');
    const lock = join(path, 'lock');
    expect(await openRunDirectory(path, undefined)).toMatchObject({
      ok: false,
      error: {
        message: `The run directory ${JSON.stringify(path)} is in use by another process. Use another run directory; if that process is gone, delete ${lock}.`,
      },
    });
  });

  test('a dangling link is refused as it is, and nothing is made where it leads', async () => {
    const base = await tempDirectory();
    await symlink(join(base, 'made'), join(base, 'dangling'));
    for (const name of ['dangling', 'dangling/run']) {
      const path = join(base, name);
      expect(await openRunDirectory(path, undefined)).toEqual({
        ok: false,
        error: ioError(path, 'ENOENT', 'open the run directory'),
      });
    }
    expect(await readdir(base)).toEqual(['dangling']);
  });

  test('an artifact that is named by its content is written again, and another one never', async () => {
    const path = await tempDirectory();
    const opened = await openRunDirectory(path, undefined);
    if (!opened.ok) throw new Error(opened.error.message);
    onTestFinished(() => opened.value.release());
    const {saveArtifact} = opened.value;
    const name = `undo/${'a'.repeat(64)}`;
    for (const content of ['one', 'two'])
      expect(await saveArtifact(name, content)).toEqual({ok: true, value: name});
    expect(await readFile(join(path, name), 'utf8')).toBe('two');
    expect((await stat(join(path, 'undo'))).mode & 0o777).toBe(0o700);
    for (const other of [`undo/${'a'.repeat(63)}`, `undo/${'a'.repeat(65)}`, `undo/${'A'.repeat(64)}`]) {
      expect(await saveArtifact(other, 'one')).toEqual({ok: true, value: other});
      expect(await saveArtifact(other, 'two')).toEqual({
        ok: false,
        error: ioError(other, 'EEXIST', 'save the artifact'),
      });
    }
    await expect(saveArtifact('events.jsonl', '')).rejects.toThrow(
      'Expected an artifact path such as "logs/step_0001.txt", got "events.jsonl".',
    );
    for (const fine of [`a/${'b'.repeat(100)}`, 'a/b/c/d'])
      expect((await saveArtifact(fine, '')).ok).toBe(true);
    for (const wrong of [`a/${'b'.repeat(101)}`, 'a/.b', 'a/b c', ' a/b'])
      await expect(saveArtifact(wrong, '')).rejects.toThrow('Expected an artifact path');
  });
});
