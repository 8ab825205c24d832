import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {unpackPackage} from '../../scripts/release/unpack-package.js';
import {createToolbox, type ToolResult} from '../../src/index.ts';
import {packedPackage} from '../support/packed-package.ts';
import {has, needs} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));
const PROTECTED = {error_type: 'path_escape', details: {reason: 'protected'}};
const CONFIG =
  '[tools]\nmode = "enabled"\n[tools.approval]\nmode = "auto"\n[tools.run]\nenabled = true\nsandbox = "bubblewrap"\n';

function open(configuration: string | undefined) {
  const place = temporaryDirectory();
  const workspace = join(place, 'workspace');
  const link = join(place, 'link');
  mkdirSync(join(workspace, 'conf'), {recursive: true});
  symlinkSync(workspace, link);
  writeFileSync(join(workspace, 'other.txt'), 'one\n');
  const config = join(workspace, 'conf', 'forge.toml');
  if (configuration !== undefined) writeFileSync(config, configuration);
  const toolbox = createToolbox({
    // The name of the workspace need not be its real path.
    workspace: link,
    runDirectory: join(place, 'run'),
    protectedPaths: [join(link, 'conf', 'forge.toml')],
    config: {
      tools: {mode: 'enabled', approval: {mode: 'auto'}, run: {enabled: true, sandbox: 'bubblewrap'}},
    },
  });
  onTestFinished(() => toolbox.close());
  const call = (tool: string, params: {[name: string]: string}): Promise<ToolResult> =>
    toolbox.call({tool, params, request_id: ''});
  return {toolbox, call, config};
}

describe('review R9: the configuration in the workspace is closed to every tool', () => {
  test.each([[CONFIG], [undefined]])('where it holds %j', async written => {
    const {call, config} = open(written);
    const path = 'conf/forge.toml';
    await call('read_file', {path});
    const patch = `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-[tools]\n+[mine]\n`;
    const created = `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+[mine]\n`;
    const moved = `diff --git a/other.txt b/${path}\nrename from other.txt\nrename to ${path}\n`;
    const attempts = [
      await call('write_file', {path, content: 'mine'}),
      await call('write_file', {path: config, content: 'mine'}),
      await call('str_replace', {path, old_string: '[tools]', new_string: 'mine'}),
      await call('apply_patch', {unified_diff: written === undefined ? created : patch}),
      await call('apply_patch', {unified_diff: moved}),
    ];
    for (const {error} of attempts) expect(error?.error_type).toBe('path_escape');
    expect(attempts[0]?.error).toMatchObject(PROTECTED);
    expect(existsSync(config) ? readFileSync(config, 'utf8') : undefined).toBe(written);
    expect(await call('write_file', {path: 'conf/next.toml', content: ''})).toMatchObject({
      status: 'success',
    });
  });

  test('commands can read it, and neither change, replace nor move it', needs('bubblewrap'), async () => {
    const {call, config, toolbox} = open(CONFIG);
    const command =
      'echo x >> conf/forge.toml; mv conf/forge.toml x; mv conf y; rm conf/forge.toml; cat conf/forge.toml';
    const {data} = await call('run', {command});
    expect(data).toMatchObject({stdout: expect.stringContaining('[tools]')});
    expect(readFileSync(config, 'utf8')).toBe(CONFIG);
    expect(toolbox.warnings.join()).toContain('forge.toml lies in the workspace');
  });

  test('where there is none yet, a command cannot make one', needs('bubblewrap'), async () => {
    const {call, config, toolbox} = open(undefined);
    await call('run', {command: 'mkdir -p conf; echo "[tools]" > conf/forge.toml'});
    await toolbox.close();
    expect(existsSync(config) ? readFileSync(config, 'utf8') : '').toBe('');
    expect(toolbox.warnings).toEqual([]);
  });
});

describe('policy: what sessions on other workspaces believe is closed to one on the home directory', () => {
  const attempts = [
    ['a journal', 'journal/planted'],
    ['an approval', 'runs/other/approvals/1.approved'],
  ] as const;

  test.each(attempts)('%s', async (_, planted) => {
    const home = temporaryDirectory();
    const state = join(home, '.local/state/forge-tools');
    for (const path of ['journal', 'runs/other/approvals']) mkdirSync(join(state, path), {recursive: true});
    const toolbox = createToolbox({
      workspace: home,
      environment: {env: {PATH: process.env['PATH']}, cwd: '/', tempDir: temporaryDirectory(), homeDir: home},
      config: {
        tools: {mode: 'enabled', approval: {mode: 'auto'}, run: {enabled: true, sandbox: 'bubblewrap'}},
      },
    });
    onTestFinished(() => toolbox.close());
    const path = `.local/state/forge-tools/${planted}`;
    const written = await toolbox.call({
      tool: 'write_file',
      params: {path, content: 'planted'},
      request_id: '',
    });
    expect(written.error).toMatchObject(PROTECTED);
    if (has('bubblewrap')) {
      const command = `echo planted >${path}; mv .local/state/forge-tools x; mv .local/state y; test -e ${path}`;
      const ran = await toolbox.call({tool: 'run', params: {command}, request_id: ''});
      expect(ran.data).toMatchObject({exit_code: 1});
    }
    expect(existsSync(join(home, path))).toBe(false);
    expect(readdirSync(state).sort()).toEqual(['journal', 'runs']);
  });
});

/** The package as a project has it that depends on it. */
async function install(): Promise<{workspace: string; main: string; home: string}> {
  const home = temporaryDirectory();
  const workspace = join(home, 'project');
  const place = await unpackPackage(await packedPackage(), join(workspace, 'node_modules'));
  return {workspace, main: join(place, 'dist', 'bin', 'forge-tools.js'), home};
}

describe('review R8: the package that is installed in the workspace is not rewritten by it', () => {
  test('neither by a command nor by a tool, and goes on working', needs('bubblewrap'), async () => {
    const {workspace, main, home} = await install();
    const config = join(home, 'config.toml');
    writeFileSync(config, CONFIG);
    const argv = ['call', '--jsonl', '--concurrency', '1', '--workspace', workspace, '--config', config];
    const child = spawn(process.execPath, [main, ...argv], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {PATH: process.env['PATH'], HOME: home},
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const evil = 'globalThis.process.stdout.write("EVIL")';
    const inside = 'node_modules/forge-tools/dist/bin';
    const requests = [
      {
        tool: 'run',
        params: {
          command: `for f in ${inside}/*.js; do echo '${evil}' >> $f; done; mv node_modules moved; ls ${inside} | wc -l`,
        },
      },
      {tool: 'write_file', params: {path: `${inside}/new.js`, content: evil}},
      {tool: 'write_file', params: {path: 'node_modules/zod/index.js', content: evil}},
      {tool: 'write_file', params: {path: 'index.js', content: ''}},
      {tool: 'search', params: {query: 'nothing like it'}},
    ];
    child.stdin.end(requests.map(request => `${JSON.stringify({request_id: 'r', ...request})}\n`).join(''));
    let out = '';
    for await (const chunk of child.stdout) out += chunk;
    expect(out).not.toContain('"EVIL"');
    const results = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as ToolResult);
    expect(results).toMatchObject([
      {status: 'success', data: {stderr: expect.stringContaining('Read-only file system')}},
      {error: PROTECTED},
      {error: PROTECTED},
      {status: 'success'},
      {status: 'success', data: {total_matches: 0}},
    ]);
    expect(readFileSync(main, 'utf8')).toBe(readFileSync(join(PACKAGE, 'dist/bin/forge-tools.js'), 'utf8'));
  });
});
