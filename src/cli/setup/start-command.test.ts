import {expect, test} from 'vitest';
import {settingsFile} from './settings-file.ts';
import {npxLauncher, thisLauncher} from './start-command.ts';

const NODE = 'C:\\Program Files\\nodejs\\node.exe';

test('policy: an entry never holds a path into the cache of npx', () => {
  for (const script of [
    '/home/a/.npm/_npx/1f2e/node_modules/forge-tools/dist/bin/forge-tools.js',
    'C:\\npm\\_npx\\1f\\x.js',
  ]) {
    const launcher = {program: [NODE, script] as const, version: '1.2.3', platform: 'linux'};
    expect(thisLauncher({...launcher, program: [NODE, script]})).toEqual(['npx', '-y', 'forge-tools@1.2.3']);
  }
});

test('policy: Windows starts npx by its shell', () => {
  expect(npxLauncher({version: '1.2.3', platform: 'win32'})).toEqual([
    'cmd',
    '/c',
    'npx',
    '-y',
    'forge-tools@1.2.3',
  ]);
});

test('policy: settings are where each system keeps them', () => {
  const environment = {env: {}, homeDir: '/Users/a', cwd: '/p', tempDir: '/tmp'};
  const file = (platform: string, env = {}) =>
    settingsFile('claude-desktop', 'user', {...environment, env}, platform);
  expect(file('darwin')).toBe('/Users/a/Library/Application Support/Claude/claude_desktop_config.json');
  expect(file('linux')).toBe('/Users/a/.config/Claude/claude_desktop_config.json');
  expect(file('linux', {XDG_CONFIG_HOME: '/c'})).toBe('/c/Claude/claude_desktop_config.json');
  expect(file('win32', {APPDATA: '/Users/a/AppData/Roaming'})).toBe(
    '/Users/a/AppData/Roaming/Claude/claude_desktop_config.json',
  );
  expect(settingsFile('codex', 'user', {...environment, env: {CODEX_HOME: '/x'}}, 'linux')).toBe(
    '/x/config.toml',
  );
  expect(settingsFile('codex', 'project', environment, 'linux')).toBeUndefined();
});
