import {mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createToolbox} from '../../src/index.ts';
import {freePort} from '../support/free-port.ts';
import {processesWith, uniqueSleep} from '../support/open-sandbox.ts';
import {needs} from '../support/parts.ts';

const image = process.env['FORGE_TEST_DOCKER_IMAGE'] ?? '';
const PLACES = [
  {sandbox: 'none', parts: [], settings: {sandbox: 'none', allow_insecure_none: true}},
  {
    sandbox: 'bubblewrap',
    parts: ['bubblewrap'],
    settings: {sandbox: 'bubblewrap'},
  },
  {
    sandbox: 'docker',
    parts: ['Docker'],
    settings: {sandbox: 'docker', docker: {image}},
  },
] as const;

function open(run: (typeof PLACES)[number]['settings']) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'forge-background-')));
  onTestFinished(() => rmSync(directory, {recursive: true, force: true}));
  const workspace = join(directory, 'work');
  mkdirSync(workspace);
  const env = {...process.env, DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST']};
  const toolbox = createToolbox({
    workspace,
    runDirectory: join(directory, 'run'),
    environment: {env, cwd: directory, tempDir: tmpdir(), homeDir: directory},
    config: {tools: {mode: 'enabled', approval: {mode: 'auto'}, run}},
  });
  onTestFinished(() => toolbox.close());
  const call = async (tool: string, params: {[name: string]: string | number | boolean} = {}) => {
    const result = await toolbox.call({tool, params, request_id: ''});
    return {...result, data: result.data as {[name: string]: unknown}};
  };
  return {toolbox, call, log: () => readFileSync(join(directory, 'run/events.jsonl'), 'utf8')};
}

describe.each(PLACES)('$sandbox', ({sandbox, parts, settings}) => {
  test(
    'W21: a command in the background is followed, waited for and stopped',
    needs('Perl', ...parts),
    async () => {
      const {call} = open(settings);
      const sleep = uniqueSleep();
      const port = await freePort();
      const listen = `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", LocalPort => ${port}) or die $!; sleep 600'`;
      const started = await call('run', {
        command: `setsid sleep ${sleep} & echo up; mkdir -p made/.git; ${listen}`,
        background: true,
      });
      expect(started.data).toMatchObject({sandbox, background: {step: 1}});
      expect((await call('wait_for', {port, timeout_sec: 30})).data).toMatchObject({outcome: 'port'});
      expect((await call('read_output', {step: 1})).data).toMatchObject({content: 'up\n'});
      // Beside it, others run as always.
      expect((await call('run', {command: 'echo beside'})).data).toMatchObject({stdout: 'beside\n'});
      expect(processesWith(sleep).length).toBeGreaterThan(0);
      const stopped = await call('stop_run');
      expect(stopped.data).toMatchObject({was_running: true, background: {ended: 'stopped'}});
      expect(processesWith(sleep)).toEqual([]);
    },
  );

  test('W21: it ends with the session, and its end is in the log before that', needs(...parts), async () => {
    const {call, toolbox, log} = open(settings);
    const sleep = uniqueSleep();
    await call('run', {command: `setsid sleep ${sleep} & echo up; sleep ${sleep}`, background: true});
    await call('wait_for', {text: 'up'});
    await toolbox.close();
    expect(processesWith(sleep)).toEqual([]);
    const events = log()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).event)
      .slice(-2);
    expect(events).toEqual(['background_ended', 'session_ended']);
  });

  test('review R7: a repository that it leaves is named when it ends', needs(...parts), async () => {
    const {call} = open(settings);
    await call('run', {command: 'mkdir -p sub/.git; echo done', background: true});
    expect((await call('wait_for')).data).toMatchObject({
      outcome: 'ended',
      background: {exit_code: 0, repositories: ['sub']},
    });
  });
});
