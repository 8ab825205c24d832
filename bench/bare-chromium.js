import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {loadOurs} from './load.js';

/** No interception, no guard, no sandbox: what a script of ten lines would do to read one page. */
export async function bareChromium(program, url, ourFlags) {
  const {CdpConnection} = await loadOurs('web/browser/cdp.js');
  const {chromiumFlags} = await loadOurs('web/browser/launch.js');
  const more = chromiumFlags({profile: '', sandbox: false, contained: false});
  const plain = ['--headless', '--no-sandbox', '--no-first-run', '--remote-debugging-pipe'];
  const flags = [...plain, ...(ourFlags ? more.filter(flag => !flag.startsWith('--user-data-dir')) : [])];
  return async () => {
    const profile = mkdtempSync(join(tmpdir(), 'bench-browser-'));
    const child = spawn(program, [...flags, `--user-data-dir=${profile}`], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    await readPage(new CdpConnection(child.stdio[3], child.stdio[4]), url);
    const ended = new Promise(resolve => child.once('exit', resolve));
    process.kill(-child.pid, 'SIGKILL');
    await ended;
    rmSync(profile, {recursive: true, force: true, maxRetries: 5});
  };
}

async function readPage(connection, url) {
  const {value: target} = await connection.send('Target.createTarget', {url: 'about:blank'});
  const attach = {targetId: target.targetId, flatten: true};
  const {value: attached} = await connection.send('Target.attachToTarget', attach);
  const session = attached.sessionId;
  await connection.send('Page.enable', {}, session);
  await connection.send('Page.setLifecycleEventsEnabled', {enabled: true}, session);
  let loader;
  const idle = new Promise(resolve => {
    connection.on('Page.lifecycleEvent', event => {
      if (event.name === 'networkIdle' && event.loaderId === loader) resolve();
    });
  });
  connection.on('Page.frameNavigated', ({frame}) => {
    loader = frame.loaderId;
  });
  await connection.send('Page.navigate', {url}, session);
  await idle;
  const expression = 'document.documentElement.outerHTML';
  await connection.send('Runtime.evaluate', {expression, returnByValue: true}, session);
}
