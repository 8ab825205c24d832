import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {nodeProcessRunner} from './node-process-runner.ts';
import type {ProcessEnd, ProcessRequest} from './process-runner.ts';

const runner = nodeProcessRunner(systemClock);

async function run(
  script: string,
  request: Partial<ProcessRequest> = {},
): Promise<{end: ProcessEnd; stdout: string}> {
  const parts: Uint8Array[] = [];
  const end = await runner.run({
    command: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    onStdout: part => {
      parts.push(part);
      return true;
    },
    maxStdoutBytes: 1_000_000,
    signal: new AbortController().signal,
    ...request,
  });
  return {end, stdout: Buffer.concat(parts).toString()};
}

/** Waits for what another process does; ends, as the test has a time-out. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resume => setTimeout(resume, 5));
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('node-process-runner', () => {
  test('policy: arguments reach the program as they are, without a shell', async () => {
    const {stdout} = await run('', {command: '/bin/echo', args: ['$HOME; `id`', '*', '-n --x']});
    expect(stdout).toBe('$HOME; `id` * -n --x\n');
  });

  test('policy: nothing of our environment is inherited', async () => {
    const {stdout} = await run('', {command: '/usr/bin/env', args: []});
    expect(stdout).toBe('');
    expect((await run('', {command: '/usr/bin/env', args: [], env: {A: 'b'}})).stdout).toBe('A=b\n');
  });

  test('gives back exit code, stdout and stderr', async () => {
    const {end, stdout} = await run('echo out; echo err >&2; exit 3');
    expect(stdout).toBe('out\n');
    expect(end).toEqual({end: 'exited', exitCode: 3, stderr: 'err\n'});
    expect((await run('kill -9 $$')).end).toMatchObject({end: 'exited', exitCode: null});
  });

  test('stdin is closed where none is given, and fed block by block where it is', async () => {
    expect((await run('', {command: '/bin/cat', args: []})).end).toMatchObject({exitCode: 0});
    async function* blocks() {
      for (let block = 0; block < 100; block += 1) yield Buffer.alloc(10_000, block);
    }
    let bytes = 0;
    await run('', {
      command: '/bin/cat',
      args: [],
      stdin: blocks(),
      onStdout: part => {
        bytes += part.length;
        return true;
      },
      maxStdoutBytes: 2_000_000,
    });
    expect(bytes).toBe(1_000_000);
  });

  test('a program that ends before it has read everything is no error, and its feeder is ended', async () => {
    let closed = false;
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(65_536);
      } finally {
        closed = true;
      }
    }
    const {end} = await run('exit 0', {stdin: endless()});
    expect(end).toMatchObject({end: 'exited', exitCode: 0});
    expect(closed).toBe(true);
  });

  test('a bug in the feeder is thrown, and the program is ended', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a');
      throw new TypeError('broken');
    }
    await expect(run('', {command: '/bin/cat', args: [], stdin: broken()})).rejects.toThrow('broken');
  });

  test('a bug in the reader is thrown', async () => {
    const broken = () => {
      throw new TypeError('broken');
    };
    await expect(run('echo a; exec sleep 60', {onStdout: broken})).rejects.toThrow('broken');
  });

  test('ends the program when the reader has enough, and when there is too much', async () => {
    const endless = 'while :; do echo 0123456789; done';
    expect((await run(endless, {onStdout: () => false})).end).toEqual({end: 'stopped'});
    expect((await run(endless, {maxStdoutBytes: 1000})).end).toEqual({end: 'capped'});
  });

  test('stderr is kept to its first 16 KiB', async () => {
    const {end} = await run('i=0; while [ $i -lt 5000 ]; do echo 0123456789 >&2; i=$((i+1)); done');
    expect(end.end === 'exited' && end.stderr.length).toBe(16_384);
  });

  test('an abort ends the program and what it started', async () => {
    const directory = temporaryDirectory();
    const controller = new AbortController();
    const running = run('sleep 60 & echo $! > child; wait', {cwd: directory, signal: controller.signal});
    const path = join(directory, 'child');
    await until(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
    controller.abort();
    expect((await running).end).toEqual({end: 'aborted'});
    const child = Number(readFileSync(path, 'utf8'));
    await until(() => !isAlive(child));
    expect((await run('true', {signal: controller.signal})).end).toEqual({end: 'aborted'});
  });

  test('a background process that holds stdout neither delays the end nor outlives it', async () => {
    const {end, stdout} = await run('sleep 60 & echo $!');
    expect(end).toMatchObject({end: 'exited', exitCode: 0});
    await until(() => !isAlive(Number(stdout)));
  });

  test('a program that is not there, or may not be run, is a value', async () => {
    expect((await run('', {command: '/nowhere/rg'})).end).toEqual({end: 'not_started', error: 'ENOENT'});
    expect((await run('', {command: '/etc/passwd'})).end).toEqual({end: 'not_started', error: 'EACCES'});
    expect((await run('', {command: '/nowhere/rg', stdin: [Buffer.from('a')]})).end).toMatchObject({
      error: 'ENOENT',
    });
    expect((await run('', {cwd: '/nowhere'})).end).toMatchObject({end: 'not_started'});
  });
});
