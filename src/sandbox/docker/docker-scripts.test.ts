import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import {describe, expect, onTestFinished, test} from 'vitest';
import {SUPERVISE} from './docker-scripts.ts';

test('ruling W8: a supervisor that is not process 1 of a container ends nothing, and itself', () => {
  const {status, stdout} = spawnSync('/bin/sh', ['-c', SUPERVISE], {input: '0\n', encoding: 'utf8'});
  expect({status, stdout}).toEqual({status: 125, stdout: ''});
});

/** A program in the background that is no copy of the shell any more. */
const sleeping = (seconds: number): string =>
  `sleep ${seconds} & until read -r name </proc/$!/comm && [ "$name" = sleep ]; do :; done`;

/** A supervisor in a namespace of processes, as in a container; lines of its answers, one after another. */
function supervise(before: string) {
  const namespace = [
    '--unshare-pid',
    '--unshare-user',
    '--as-pid-1',
    '--die-with-parent',
    '--dev-bind',
    '/',
    '/',
  ];
  const child = spawn('bwrap', [...namespace, '--proc', '/proc', '/bin/sh', '-c', `${before}\n${SUPERVISE}`]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  /** All lines up to this one. */
  const until = async (last: string) => {
    const said: string[] = [];
    while (said.at(-1) !== last) said.push(String((await lines.next()).value));
    return said;
  };
  return {child, until};
}

describe.runIf(process.env['FORGE_TEST_BWRAP'] !== undefined)('the supervisor of a container', () => {
  test('ruling W8: for each line it ends every other process and says which they were', async () => {
    const {child, until} = supervise(`${sleeping(600)}\n${sleeping(601)}`);
    expect(await until('ready')).toEqual([expect.stringMatching(/^oom \d+$/), 'ready']);
    child.stdin.write('0\n');
    expect(await until('swept')).toEqual([
      ...['left sleep', 'left sleep', expect.stringMatching(/^oom \d+$/), 'swept'],
    ]);
    child.stdin.write('0\n');
    expect(await until('swept')).toEqual([expect.stringMatching(/^oom \d+$/), 'swept']);
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  });

  test('ruling W8: the process that reports the end of a command is ended and not named', async () => {
    const {child, until} = supervise('sleep 600 & echo "$!"');
    const [reporter] = await until('ready');
    child.stdin.write(`${reporter}\n`);
    expect(await until('swept')).toEqual([expect.stringMatching(/^oom \d+$/), 'swept']);
  });
});
