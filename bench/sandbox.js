// Prints what a sandbox adds to `true`: the whole call, from asking to the answer.
// usage: npm run build && node bench/sandbox.js [--rounds N] [--pause MS] [--docker-host URL] [--image NAME]
import {spawn} from 'node:child_process';
import {chownSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {systemClock} from '../dist/core/clock.js';
import {createSandbox} from '../dist/sandbox/create-sandbox.js';
import {runSection} from '../dist/sandbox/options.js';

const {values} = parseArgs({
  options: {
    rounds: {type: 'string', default: '100'},
    // An agent thinks between two commands; what prepares the next one does so meanwhile.
    pause: {type: 'string', default: '50'},
    'docker-host': {type: 'string', default: process.env.FORGE_TEST_DOCKER_HOST ?? process.env.DOCKER_HOST},
    image: {type: 'string', default: process.env.FORGE_TEST_DOCKER_IMAGE ?? 'debian:bookworm-slim'},
  },
});
const rounds = Number(values.rounds);
const pause = Number(values.pause);
const workspace = mkdtempSync(join(tmpdir(), 'forge-bench-'));
if (process.getuid?.() === 0) chownSync(workspace, 65534, 65534);

console.log(`true, ${rounds} rounds, Node ${process.version}; ms: median (fastest … 90 %)\n`);
await row('spawn', pause, () => spawned('/bin/true', []));
await row('sh -c', pause, () => spawned('/bin/sh', ['-c', 'true']));
await sandboxed('none', {sandbox: 'none', allow_insecure_none: true}, pause);
await sandboxed('bubblewrap', {sandbox: 'bubblewrap'}, pause);
await sandboxed('bubblewrap, no pause', {sandbox: 'bubblewrap'}, 0);
await sandboxed('docker, session', {sandbox: 'docker'}, pause);
await sandboxed('docker, fresh', {sandbox: 'docker', isolation: 'fresh'}, 0, Math.min(rounds, 10));
rmSync(workspace, {recursive: true, force: true});

async function sandboxed(name, settings, pauseMs, times = rounds) {
  const env = {...process.env, ...(values['docker-host'] && {DOCKER_HOST: values['docker-host']})};
  const options = {...defaultsOf(runSection), ...settings, docker: {image: values.image, user: ''}};
  const host = {workspace, protectedPaths: [], env, clock: systemClock, log: () => {}};
  const sandbox = createSandbox(options, host);
  const {signal} = new AbortController();
  const report = await sandbox.probe();
  if (report.ok) {
    await row(name, pauseMs, () => sandbox.run({command: 'true', env: {}, timeoutMs: 60_000, signal}), times);
  } else {
    console.log(`${name.padEnd(24)} not here: ${report.error.message.split('.')[0]}`);
  }
  await sandbox.close();
}

async function row(name, pauseMs, work, times = rounds) {
  const took = [];
  for (let round = -3; round < times; round++) {
    await new Promise(resolve => setTimeout(resolve, pauseMs));
    const start = performance.now();
    const result = await work();
    if (result?.ok === false) throw new Error(result.error.message);
    if (round >= 0) took.push(performance.now() - start);
  }
  took.sort((a, b) => a - b);
  const at = share => took[Math.floor((took.length - 1) * share)].toFixed(1);
  console.log(`${name.padEnd(24)} ${at(0.5).padStart(7)} (${at(0)} … ${at(0.9)})`);
}

function spawned(program, args) {
  return new Promise(resolve => {
    spawn(program, args, {stdio: ['ignore', 'pipe', 'pipe']}).on('close', () => resolve());
  });
}

function defaultsOf(section) {
  return Object.fromEntries(
    Object.entries(section.entries).map(([name, entry]) => [
      name,
      entry.kind === 'section' ? defaultsOf(entry) : entry.default,
    ]),
  );
}
