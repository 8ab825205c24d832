import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {
  openSandbox,
  processesWith,
  type SandboxPlace,
  uniqueSleep,
} from '../../../test/support/open-sandbox.ts';
import type {StartedCommand} from '../sandbox.ts';

function open(place: SandboxPlace = {}) {
  const opened = openSandbox({settings: {sandbox: 'bubblewrap'}, ...place});
  onTestFinished(opened.close);
  return opened;
}

describe.runIf(process.env['FORGE_TEST_BWRAP'] !== undefined)('a command in bubblewrap', () => {
  test('W8: what it says and how it ends, and what it leaves', async () => {
    const {run, sandbox} = open();
    expect(await sandbox.probe()).toMatchObject({
      ok: true,
      value: {sandbox: 'bubblewrap', description: expect.stringMatching(/^bubblewrap \d/)},
    });
    // It is a shell before it is what it becomes.
    const leave = 'sleep 600 & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done';
    expect(await run(`${leave}; echo out; echo err >&2; exit 137`)).toMatchObject({
      ...{sandbox: 'bubblewrap', out: 'out\n', err: 'err\n', exitStatus: {kind: 'exited', code: 137}},
      leftRunning: ['sleep'],
    });
    expect(await run('kill -s TERM $$')).toMatchObject({
      ...{exitStatus: {kind: 'killed', code: 143, signal: 'SIGTERM', outOfMemory: false}, leftRunning: []},
    });
  });

  test('W8: where it runs and with what', async () => {
    const {run} = open({
      settings: {sandbox: 'bubblewrap', path: '/usr/bin:/bin'},
      env: {HOME: '/nonexistent', XDG_CONFIG_HOME: '', GIT_AUTHOR_NAME: 'Ada', SECRET: 'x'},
      prepare: workspace => mkdirSync(join(workspace, 'sub')),
    });
    const show = 'pwd; echo "$HOME $PATH [$SECRET] $A $GIT_AUTHOR_NAME"; cat /etc/gitconfig';
    const config = '[user]\n\tname = "forge-tools"\n\temail = "forge-tools@localhost"\n';
    expect((await run(show)).out).toBe(`/workspace\n/tmp /usr/bin:/bin []  Ada\n${config}`);
    expect((await run(show, {directory: 'sub', env: {A: 'b c'}})).out).toBe(
      `/workspace/sub\n/tmp /usr/bin:/bin [] b c Ada\n${config}`,
    );
  });

  test('W8: its time and its caller end it, with all that it started', async () => {
    const {run} = open();
    const mine = uniqueSleep();
    const late = await run(`sleep ${mine} & sleep ${mine}`, {timeoutMs: 300});
    expect(late).toMatchObject({exitStatus: {kind: 'timeout'}});
    const cancelled = await run(`sleep ${mine}`, {signal: AbortSignal.abort()});
    expect(cancelled).toMatchObject({exitStatus: {kind: 'cancelled'}});
    expect(processesWith(mine)).toEqual([]);
    expect((await run('echo again')).out).toBe('again\n');
  });

  test('W21: it has no ports but its own', async () => {
    const {sandbox} = open();
    const controller = new AbortController();
    let ran: Promise<unknown> | undefined;
    const started = await new Promise<StartedCommand>(onStart => {
      const {signal} = controller;
      ran = sandbox.run({command: 'sleep 600', env: {}, timeoutMs: 60_000, onStart, signal});
    });
    expect([started.sandbox, await started.listeningPorts()]).toEqual(['bubblewrap', []]);
    controller.abort();
    await ran;
  });
});
