import {chmodSync, chownSync, mkdirSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {needs} from '../../../test/support/parts.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

interface Line {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
  readonly remedy: string;
}

/** The default of the machine, but for what takes seconds to start. */
const QUICK = '[tools.webfetch.browser]\nenabled = false\n';

function place(config = '') {
  const home = realpathSync(temporaryDirectory());
  const workspace = join(home, 'project');
  mkdirSync(workspace);
  const file = join(home, 'config.toml');
  writeFileSync(file, `profile = "guarded"\n${config}\n${QUICK}`);
  const env = {
    PATH: process.env['PATH'] ?? '',
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    // No daemon: that of the machine is nothing that a test may need.
    DOCKER_HOST: `unix://${home}/no-daemon`,
  };
  return {home, workspace, file, env};
}

type Place = ReturnType<typeof place>;

async function doctor({home, workspace, file, env}: Place, ...more: readonly string[]) {
  const here = {cwd: workspace, homeDir: home, tempDir: home, env};
  const {code, stdout, stderr} = await runCliHere(['doctor', '--config', file, ...more], here);
  return {code, stdout, stderr, verdict: stdout.trimEnd().split('\n').at(-1) ?? ''};
}

async function probes(where: Place) {
  const {code, stdout} = await doctor(where, '--json');
  const lines = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Line);
  return {code, of: (name: string) => lines.find(line => line.name === name), first: lines[0]};
}

/** What `run` says in the same place. */
async function run({home, workspace, file, env}: Place) {
  const here = {cwd: workspace, homeDir: home, tempDir: home, env};
  const argv = ['call', 'run', '{"command": "echo works"}', '--allow', 'run', '--config', file];
  const {code, stdout, stderr} = await runCliHere(argv, here);
  return {code, said: stdout + stderr};
}

describe('the first line says how many tools an agent gets', () => {
  test('and where, by which configuration', async () => {
    const here = place('[tools.run]\nenabled = false');
    const {stdout} = await doctor(here);
    expect(stdout.split('\n')[0]).toBe(
      `ok      Tools  14 tools for ${here.workspace}; profile "guarded", ${here.file}. run, read_output, wait_for, stop_run are off: tools.run.enabled is false. Write enabled = true below [tools.run] in ${here.file}.`,
    );
  });

  test('and why not more, by the flags of the call too', async () => {
    const here = place('[tools]\ngroups = ["core"]');
    expect((await doctor(here)).stdout).toMatch(/^ok .*: tools\.groups leaves out "web"\. Write groups = /);
    const read = await doctor(here, '--profile', 'read-only', '--groups', 'core,web,edit-more,background');
    expect(read.stdout).toMatch(/^ok .*: tools\.access is "read-only"\. /);
    const outside = await runCliHere(['doctor', '--config', place().file], {
      cwd: here.home,
      homeDir: here.home,
      tempDir: here.home,
      env: here.env,
    });
    expect(outside.stdout).toMatch(
      /^ok .*3 tools without files.*File tools and run are off: .* is not a project\. Start with --workspace/,
    );
  });

  test('where it is none, that is the verdict', needs('bubblewrap'), async () => {
    const {code, stdout, verdict} = await doctor(place('[tools]\nmode = "disabled"'));
    expect(stdout).toMatch(
      /^MISSING Tools {2}0 tools .*Every tool is off: tools\.mode is "disabled"\. Write mode = /,
    );
    expect({code, verdict}).toEqual({code: 1, verdict: 'Missing or broken: Tools.'});
  });
});

describe('what doctor says is what a call finds', () => {
  test('sandbox = "docker" without a daemon is broken', needs('Docker'), async () => {
    const here = place('[tools.run]\nsandbox = "docker"');
    const {code, of} = await probes(here);
    expect(code).toBe(1);
    expect(of('Sandbox')).toMatchObject({state: 'broken', detail: expect.stringContaining('Docker')});
    const ran = await run(here);
    expect(ran.code).toBe(1);
    expect(ran.said).toContain(of('Sandbox')?.detail);
  });

  test('bubblewrap is found as run finds it, with a PATH of node alone', needs('bubblewrap'), async () => {
    const here = place('[tools.run]\nsandbox = "bubblewrap"');
    const bin = join(here.home, 'bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    const bare = {...here, env: {...here.env, PATH: bin}};
    expect((await probes(bare)).of('Sandbox')).toMatchObject({
      state: 'ok',
      detail: expect.stringContaining('bubblewrap'),
    });
    expect((await run(bare)).said).toContain('works');
  });

  test('a cache directory that others write to is not used', async () => {
    const here = place();
    const directory = join(here.home, 'pages');
    mkdirSync(directory);
    chmodSync(directory, 0o777);
    writeFileSync(
      here.file,
      `profile = "guarded"\n[tools.webfetch]\ncache_dir = "${directory}"\n${QUICK}[tools.run]\nenabled = false\n`,
    );
    const {code, of} = await probes(here);
    expect(code).toBe(1);
    expect(of('Page cache')).toMatchObject({
      state: 'broken',
      detail: `${directory} is not used: every user can write to it`,
    });
    chmodSync(directory, 0o700);
    expect((await probes(here)).of('Page cache')).toMatchObject({state: 'ok', detail: directory});
    if (process.getuid?.() !== 0) return;
    chownSync(directory, 4321, 4321);
    expect((await probes(here)).of('Page cache')?.detail).toContain('it belongs to another user');
  });

  test('Chromium is looked for where the setting points, and the setting is what to mend', async () => {
    const here = place();
    const missing = join(here.home, 'no-such-chromium');
    writeFileSync(
      here.file,
      `profile = "guarded"\n[tools.webfetch.browser]\nchromium_path = "${missing}"\n[tools.run]\nenabled = false\n`,
    );
    const {code, of} = await probes(here);
    expect(code).toBe(1);
    expect(of('Chromium')).toMatchObject({
      state: 'missing',
      detail: `tools.webfetch.browser.chromium_path is ${missing}, which is not an executable file`,
      remedy: expect.stringContaining('chromium_path'),
    });
  });

  test('an engine that does not answer is broken', async () => {
    const server = createServer(socket => socket.destroy());
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const {port} = server.address() as {port: number};
    const here = place(`[tools.run]\nenabled = false\n[tools.hub]\nurl = "redis://127.0.0.1:${port}"`);
    expect((await probes(here)).of('Hub')).toMatchObject({state: 'broken'});
  });
});

test('policy: for what is broken doctor says what fails, how to mend it, and ends with one verdict', async () => {
  const {code, stdout, verdict} = await doctor(place('[tools.run]\nsandbox = "docker"'));
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^BROKEN {2}Sandbox {2}.*\n {8}without it: run answers sandbox_error\n {8}to get it: {2}\S/m,
  );
  expect(verdict).toMatch(/^Missing or broken: .*Sandbox.* Everything else works\.$/);
});

test('policy: what this configuration does not use is no problem', async () => {
  const {of} = await probes(place('[tools.webfetch]\ncache_dir = ""\n[tools.run]\nenabled = false'));
  expect(of('Sandbox')).toMatchObject({state: 'unused', detail: 'run is not offered'});
  expect(of('Page cache')).toMatchObject({state: 'unused', detail: 'tools.webfetch.cache_dir is ""'});
  expect(['ok', 'unused']).toContain(of('Chromium')?.state);
});

test('policy: doctor tells what the configuration says otherwise than it is used', {
  tags: 'slow',
}, async () => {
  const here = place('[tools.webfetch]\ntimeout_secs = 3\n[tools.run]\nenabled = false');
  for (const argv of [['doctor'], ['cache', 'stats']]) {
    const {stderr} = await runCliHere([...argv, '--config', here.file], {
      ...here,
      cwd: here.workspace,
      answers: [],
    });
    expect(stderr).toMatch(/^Warning: .*timeout_secs is not a known key.*timeout_seconds/);
  }
});
