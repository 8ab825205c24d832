import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {removeStaleChannels} from './remove-stale-channels.ts';

/** Listens in a process of its own, which is killed. */
async function killedListener(path: string): Promise<void> {
  const code = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('ready'))`;
  const child = spawn(process.execPath, ['-e', code], {stdio: ['ignore', 'pipe', 'inherit']});
  await new Promise(resolve => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise(resolve => child.once('exit', resolve));
}

test('review R14: the directory of a host that was killed is removed, that of a living one stays', async () => {
  const place = temporaryDirectory();
  const dead = mkdtempSync(join(place, 'forge-egress-'));
  await killedListener(join(dead, 's'));
  expect(existsSync(join(dead, 's'))).toBe(true);
  const living = mkdtempSync(join(place, 'forge-egress-'));
  const server = createServer(socket => socket.destroy()).listen(join(living, 's'));
  onTestFinished(() => void server.close());
  await new Promise(resolve => server.once('listening', resolve));
  const made = mkdtempSync(join(place, 'forge-egress-'));
  await removeStaleChannels(place);
  expect([dead, living, made].map(path => existsSync(path))).toEqual([false, true, true]);
});

test('review R2: a link in its place, a foreign file in it and other names are left alone', {
  tags: 'slow',
}, async () => {
  const place = temporaryDirectory();
  const outside = temporaryDirectory();
  await killedListener(join(outside, 's'));
  symlinkSync(outside, join(place, 'forge-egress-AAAAAA'));
  mkdirSync(join(place, 'forge-egress-BBBBBB'));
  writeFileSync(join(place, 'forge-egress-BBBBBB', 's'), 'a file');
  mkdirSync(join(place, 'forge-egress-CCCCCC'));
  await killedListener(join(place, 'forge-egress-CCCCCC', 's'));
  writeFileSync(join(place, 'forge-egress-CCCCCC', 'kept'), '');
  mkdirSync(join(place, 'other'));
  await killedListener(join(place, 'other', 's'));
  await removeStaleChannels(place);
  expect(existsSync(join(outside, 's'))).toBe(true);
  expect(readdirSync(join(place, 'other'))).toEqual(['s']);
  expect(readdirSync(join(place, 'forge-egress-CCCCCC'))).toEqual(['kept']);
  // A connection to what is no socket is refused as well.
  expect(readdirSync(join(place, 'forge-egress-BBBBBB'))).toEqual(['s']);
  expect(existsSync(join(place, 'forge-egress-AAAAAA'))).toBe(true);
});
