import {chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {desktopOpener, openOnDesktop} from './open-on-desktop.ts';

test('policy: a file is opened on a desktop, by the program of the system, and never in CI', () => {
  const of = (platform: NodeJS.Platform, env: Record<string, string>) => desktopOpener({platform, env})?.[0];
  expect(of('linux', {DISPLAY: ':0'})).toBe('xdg-open');
  expect(of('linux', {WAYLAND_DISPLAY: 'wayland-0'})).toBe('xdg-open');
  expect(of('linux', {DISPLAY: ''})).toBeUndefined();
  expect(of('darwin', {})).toBe('open');
  expect(of('win32', {})).toBe('rundll32');
  expect(of('darwin', {CI: 'true'})).toBeUndefined();
  expect(of('linux', {DISPLAY: ':0', CI: '1'})).toBeUndefined();
  expect(of('linux', {DISPLAY: ':0', CI: 'false'})).toBe('xdg-open');
});

test.skipIf(process.platform !== 'linux')(
  'policy: the program gets the file, and the answer says so',
  async () => {
    // Not below the directory for temporary files: others may write there, so nothing in it is run.
    const directory = mkdtempSync(join(homedir(), '.forge-desktop-'));
    onTestFinished(() => rmSync(directory, {recursive: true, force: true}));
    const opener = join(directory, 'xdg-open');
    writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > ${directory}/opened\n`);
    chmodSync(opener, 0o755);
    const desktop = {platform: 'linux', env: {DISPLAY: ':0', PATH: directory}} as const;
    expect(await openOnDesktop('/a report.html', desktop, [])).toBe(true);
    const opened = join(directory, 'opened');
    await expect.poll(() => existsSync(opened) && readFileSync(opened, 'utf8')).toBe('/a report.html');
    expect(await openOnDesktop('/a', {...desktop, env: {DISPLAY: ':0', PATH: ''}}, [])).toBe(false);
    expect(await openOnDesktop('/a', {...desktop, env: {PATH: directory}}, [])).toBe(false);
  },
);
