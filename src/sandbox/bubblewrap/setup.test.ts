import childProcess from 'node:child_process';
import {chmodSync, existsSync, readFileSync, writeFileSync} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {openSandbox} from '../../../test/support/open-sandbox.ts';
import {needs} from '../../../test/support/parts.ts';
import {breakPipes, startedChildren} from '../../../test/support/started-children.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {innerArguments, outerArguments} from './profile.ts';
import {canNest} from './setup.ts';

/** Makes every question whether a bubblewrap runs in another one end by its time-out, as on a machine that is busy. */
function keepBusy() {
  const {execFile} = childProcess;
  const spy = vi.spyOn(childProcess, 'execFile');
  const free = () => {
    spy.mockRestore();
    syncBuiltinESMExports();
  };
  onTestFinished(free);
  let asked = 0;
  const answer = (...call: readonly unknown[]) => {
    const [, args = [], , done] = call as Parameters<typeof execFile>;
    if (!args?.some(arg => arg.startsWith('stat -c')))
      return execFile(...(call as Parameters<typeof execFile>));
    asked += 1;
    done?.(Object.assign(new Error('timeout'), {killed: true}), '', '');
    return {stdout: null, stderr: null};
  };
  spy.mockImplementation(answer as unknown as typeof execFile);
  syncBuiltinESMExports();
  return {free, asked: () => asked};
}

test(
  'review R1: nothing is run where it is not known how, and the next call asks again',
  needs('bubblewrap'),
  async () => {
    const opened = openSandbox({settings: {sandbox: 'bubblewrap'}});
    onTestFinished(opened.close);
    const {free, asked} = keepBusy();
    await expect(opened.run('true')).rejects.toThrow(
      'bubblewrap did not say in time whether it can run in another bubblewrap. Nothing was run. To fix it: call it again when the machine has less to do.',
    );
    expect(asked()).toBe(3);
    free();
    expect((await opened.run('echo ran')).out).toBe('ran\n');
  },
);

/** A bubblewrap that begins with `script`; `$1` is its first argument. */
function program(script: string): string {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  writeFileSync(join(directory, 'bwrap'), `#!/bin/sh\n${script}\n`, {mode: 0o755});
  return directory;
}

test('review R1: a bubblewrap that answers too late is asked again', {tags: 'slow'}, async () => {
  const directory = program('cd "$(dirname "$0")"; mkdir busy 2>/dev/null && exec sleep 600; exit 0');
  expect(await canNest([join(directory, 'bwrap')], [], [], 1500)).toBe('nests');
  expect(existsSync(join(directory, 'busy'))).toBe(true);
});

test('review R1: what never answers is not taken for a no', {tags: 'slow'}, async () => {
  expect(await canNest([join(program('exec sleep 600'), 'bwrap')], [], [], 100)).toBe('no_answer');
  expect(await canNest([join(program('exit 1'), 'bwrap')], [], [])).toBe('refused');
});

test('review R1: it is asked as a sandbox is started: one in another one, and what looks at the workspace between', async () => {
  const children = startedChildren();
  const directory = program('pwd >"$0.place"; /usr/bin/env >"$0.env"; printf "%s\\n" "$@" >"$0.args"');
  const bwrap = join(directory, 'bwrap');
  expect(await canNest(['/usr/bin/env', 'A=b', bwrap], ['COMMAND'], ['SYSTEM'])).toBe('nests');
  const of = (what: string) => readFileSync(`${bwrap}.${what}`, 'utf8');
  expect(of('place')).toBe('/\n');
  expect(of('env')).not.toContain('HOME');
  expect(of('args').trim().split('\n')).toEqual([
    ...[...outerArguments(['SYSTEM']), '--', '/bin/sh', '-c', 'stat -c %d:%i / && exec "$@"', 'sh', bwrap],
    ...[...innerArguments(['COMMAND']), '--', '/bin/sh', '-c', 'exit 0'],
  ]);
  expect(children).toHaveLength(1);
  for (const child of children) breakPipes(child);
});

test('review R1: a bubblewrap that does not let itself be ended is killed', {tags: 'slow'}, async () => {
  const directory = program('trap "" TERM; echo $$ >>"$0.pids"; exec sleep 600');
  expect(await canNest([join(directory, 'bwrap')], [], [], 200)).toBe('no_answer');
  const asked = readFileSync(join(directory, 'bwrap.pids'), 'utf8').trim().split('\n');
  expect(asked).toHaveLength(3);
  for (const pid of asked) expect(existsSync(`/proc/${pid}`)).toBe(false);
});
