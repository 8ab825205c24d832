// A host that runs one command in a sandbox until it is killed: node sandbox-host.js OPTIONS-JSON WORKSPACE COMMAND
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {systemClock} from '../../dist/core/clock.js';
import {createSandbox} from '../../dist/sandbox/create-sandbox.js';

const [options = '', workspace = '', command = ''] = process.argv.slice(2);
const host = {
  workspace,
  protectedPaths: [],
  sessions: join(tmpdir(), 'sessions'),
  env: {...process.env, DOCKER_HOST: process.env.FORGE_TEST_DOCKER_HOST},
  programDirectories: process.env.FORGE_TEST_PROGRAMS?.split(':'),
  clock: systemClock,
  log: () => {},
};
const sandbox = createSandbox(JSON.parse(options), host);
const {signal} = new AbortController();
// A first command leaves what waits for the next one.
await sandbox.run({command: 'true', env: {}, timeoutMs: 20_000, signal});
const ran = await sandbox.run({command, env: {}, timeoutMs: 60_000, signal});
console.log(JSON.stringify(ran));
if (process.env.FORGE_TEST_NO_CLOSE === undefined) await sandbox.close();
