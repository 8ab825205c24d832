import {mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join, relative} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {loadConfig} from './load-config.ts';

let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'forge-config-'));
  await mkdir(join(root, 'work'));
});

afterEach(() => rm(root, {recursive: true, force: true}));

/** Writes a file that sets `timeout_seconds`, so that a test sees which one was read. */
async function put(path: string, content: string | Uint8Array): Promise<string> {
  const file = join(root, path);
  await mkdir(dirname(file), {recursive: true});
  await writeFile(file, content);
  return file;
}

function timeout(seconds: number): string {
  return `[tools.webfetch]\ntimeout_seconds = ${seconds}\n`;
}

function load(options: {path?: string; env?: Record<string, string>; homeDir?: string} = {}) {
  const {path, env = {}, homeDir = join(root, 'home')} = options;
  return loadConfig({path, env, cwd: join(root, 'work'), tempDir: '/tmp', homeDir});
}

async function loaded(options: Parameters<typeof load>[0] = {}) {
  const result = await load(options);
  if (!result.ok) throw new Error(result.error.join('\n'));
  return {seconds: result.value.config.tools.webfetch.timeout_seconds, ...result.value};
}

async function problem(options: Parameters<typeof load>[0]): Promise<string> {
  const result = await load(options);
  expect(result).toMatchObject({ok: false, error: {length: 1}});
  return result.ok ? '' : (result.error[0] ?? '');
}

describe('ruling H5: sources', () => {
  test('ruling H5: --config, else FORGE_TOOLS_CONFIG, else XDG_CONFIG_HOME, else ~/.config', async () => {
    const home = await put('home/.config/forge-tools/config.toml', timeout(11));
    expect(await loaded()).toMatchObject({seconds: 11, source: home});

    const xdg = await put('xdg/forge-tools/config.toml', timeout(12));
    const env: Record<string, string> = {XDG_CONFIG_HOME: join(root, 'xdg')};
    expect(await loaded({env})).toMatchObject({seconds: 12, source: xdg});

    env['FORGE_TOOLS_CONFIG'] = await put('named.toml', timeout(13));
    expect(await loaded({env})).toMatchObject({seconds: 13, source: env['FORGE_TOOLS_CONFIG']});

    const path = await put('given.toml', timeout(14));
    expect(await loaded({env, path})).toMatchObject({seconds: 14, source: path});
  });

  test('ruling H5: nothing of the workspace is read', async () => {
    for (const name of [
      'config.toml',
      'forge.toml',
      '.forge/config.toml',
      'forge-tools/config.toml',
      '.config/forge-tools/config.toml',
    ]) {
      await put(`work/${name}`, timeout(99));
    }
    for (const env of [
      {},
      {XDG_CONFIG_HOME: ''},
      {XDG_CONFIG_HOME: '.'},
      {XDG_CONFIG_HOME: '.config'},
      {FORGE_TOOLS_CONFIG: ' '},
    ]) {
      expect(await loaded({env: env as Record<string, string>})).toMatchObject({
        seconds: 20,
        source: undefined,
      });
    }
    expect(await loaded({homeDir: ''})).toMatchObject({seconds: 20, source: undefined});
    expect(await loaded({homeDir: '.'})).toMatchObject({seconds: 20, source: undefined});
  });

  test('ruling H5: a relative XDG_CONFIG_HOME does not count, as it would lead into the workspace', async () => {
    await put('xdg/forge-tools/config.toml', timeout(99));
    const env = {XDG_CONFIG_HOME: relative(process.cwd(), join(root, 'xdg'))};
    expect(await loaded({env})).toMatchObject({seconds: 20, source: undefined});
  });

  test('policy: a file that was named is relative to the working directory', async () => {
    const file = await put('work/mine.toml', timeout(15));
    expect(await loaded({path: 'mine.toml'})).toMatchObject({seconds: 15, source: file});
    expect(await loaded({env: {FORGE_TOOLS_CONFIG: 'mine.toml'}})).toMatchObject({seconds: 15, source: file});
  });

  test('policy: a missing default file is no problem, a missing named one is', async () => {
    expect(await loaded()).toMatchObject({seconds: 20, source: undefined, warnings: []});
    await put('home', 'a file in the place of a directory');
    expect(await loaded()).toMatchObject({source: undefined});
    expect(await problem({path: 'none.toml'})).toBe(
      `${join(root, 'work/none.toml')}, named by --config, does not exist. Correct the path, or leave it out.`,
    );
    expect(await problem({env: {FORGE_TOOLS_CONFIG: '/none.toml'}})).toBe(
      '/none.toml, named by FORGE_TOOLS_CONFIG, does not exist. Correct the path, or leave it out.',
    );
  });

  test('policy: a default file that is there and cannot be read is a problem', async () => {
    await mkdir(join(root, 'home/.config/forge-tools/config.toml'), {recursive: true});
    expect(await problem({})).toBe(
      `${join(root, 'home/.config/forge-tools/config.toml')} cannot be read (EISDIR). Make it a readable file.`,
    );
  });
});

describe('content', () => {
  test('policy: a syntax error is named with line, column and the line itself', async () => {
    const path = await put('bad.toml', '[tools.webfetch]\r\n  timeout_seconds = = 3\r\n');
    expect(await problem({path})).toMatch(/\/bad\.toml:2:\d+: [^\n]+, in the line: timeout_seconds = = 3$/);
  });

  test('policy: a syntax error has the words of the parser alone, and a long line is cut', async () => {
    const path = await put('bad.toml', `a = 1\n${'b'.repeat(200)} = = 3\n`);
    expect(await problem({path})).toMatch(
      /^\S+bad\.toml:2:\d+: (?!Invalid TOML)[a-z][^\n]+, in the line: b{120}$/,
    );
  });

  test('policy: a key that is written twice is a problem', async () => {
    const path = await put('twice.toml', '[tools]\nmode = "enabled"\nmode = "disabled"\n');
    expect(await problem({path})).toMatch(/twice\.toml:3:1: .*in the line: mode = "disabled"$/);
  });

  test('policy: a file that is not UTF-8 is a problem; a BOM is none', async () => {
    const path = await put('latin1.toml', Uint8Array.of(0x23, 0xe9, 0x0a));
    expect(await problem({path})).toBe(`${path} is not UTF-8. Save it in that encoding.`);
    expect(await loaded({path: await put('bom.toml', `\uFEFF${timeout(16)}`)})).toMatchObject({seconds: 16});
  });

  test('policy: findings name the file', async () => {
    const path = await put('far.toml', timeout(9223372036854775000));
    expect((await loaded({path})).warnings).toEqual([
      expect.stringMatching(
        /far\.toml: tools\.webfetch\.timeout_seconds = \d+ is outside 1-300; 300 is used\.$/,
      ),
    ]);
    expect(await problem({path: await put('type.toml', '[tools]\nmode = 1\n')})).toMatch(
      /type\.toml: Expected tools\.mode to be /,
    );
  });

  test('policy: tables nested a thousand deep are refused without a crash', async () => {
    const path = await put('deep.toml', `a = ${'['.repeat(50_000)}`);
    expect(await problem({path})).toContain('deep.toml:1:');
  });
});

describe('ruling H7: no file', () => {
  test('the profile "guarded" holds, or the one that is asked for', async () => {
    expect(await loaded()).toMatchObject({
      source: undefined,
      config: {profile: 'guarded', tools: {mode: 'enabled'}},
    });
    const reading = await loadConfig({...place(), profile: 'read-only'});
    expect(reading).toMatchObject({value: {config: {profile: 'read-only', tools: {access: 'read-only'}}}});
  });

  test('nor is one behind a directory that a link should lead to', async () => {
    await mkdir(join(root, 'home/.config'), {recursive: true});
    await symlink('/nonexistent/forge-tools', join(root, 'home/.config/forge-tools'));
    expect(await problem({})).toContain('a link that leads nowhere');
  });

  test('a file that a link should lead to is not none', async () => {
    await mkdir(join(root, 'home/.config/forge-tools'), {recursive: true});
    await symlink('/nonexistent/config.toml', join(root, 'home/.config/forge-tools/config.toml'));
    expect(await problem({})).toContain('a link that leads nowhere');
  });

  test('an empty file changes nothing', async () => {
    await put('home/.config/forge-tools/config.toml', '');
    expect(await loaded()).toMatchObject({config: {profile: 'guarded', tools: {mode: 'enabled'}}});
  });
});

function place() {
  return {env: {}, cwd: join(root, 'work'), tempDir: '/tmp', homeDir: join(root, 'home')};
}
