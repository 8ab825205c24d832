// A host that runs commands until it is killed, or opens and closes sandboxes: node sandbox-cycles.js OPTIONS-JSON WORKSPACE CYCLES
import {readdirSync, readFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {systemClock} from '../../../dist/core/clock.js';
import {createSandbox} from '../../../dist/sandbox/create-sandbox.js';

const [options = '', workspace = '', cycles = '0'] = process.argv.slice(2);
const {signal} = new AbortController();
const open = () =>
  createSandbox(JSON.parse(options), {
    workspace,
    protectedPaths: [],
    sessions: join(tmpdir(), `sessions-${process.getuid()}`),
    env: {...process.env, DOCKER_HOST: process.env.FORGE_TEST_DOCKER_HOST},
    clock: systemClock,
    log: event => {
      if (event.level !== 'info') console.log(JSON.stringify(event));
    },
  });
const run = async sandbox => {
  const ran = await sandbox.run({command: 'true', env: {}, timeoutMs: 60_000, signal});
  if (!ran.ok) console.log(ran.error.message);
};
if (cycles === '0') {
  const sandbox = open();
  await run(sandbox);
  console.log('ready');
  for (;;) await Promise.all([run(sandbox), run(sandbox)]);
}
for (let cycle = 0; cycle < Number(cycles); cycle++) {
  const sandbox = open();
  await run(sandbox);
  await sandbox.close();
}
// As process 1 of a container: who has ended and was not reaped.
if (process.pid === 1) {
  const states = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(pid => readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) (\S).*$/s, '$1'));
  console.log(`zombies ${states.filter(state => state === 'Z').length} of ${states.length}`);
}
