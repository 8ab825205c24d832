// What a sandbox adds to `true`: the whole call, from asking to the answer.
import {spawn} from 'node:child_process';
import {chownSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {loadOurs} from '../load.js';

/** An agent thinks between two commands; what prepares the next one does so meanwhile. */
const PAUSE_MS = 50;
/** Between two pairs of calls: until two boxes are ready again, on one core. */
const PAIR_PAUSE_MS = 150;
const CALLS = 15;

export async function measure({rounds}) {
  const workspace = mkdtempSync(join(tmpdir(), 'forge-bench-'));
  // A box runs as nobody where we are root.
  if (process.getuid?.() === 0) chownSync(workspace, 65534, 65534);
  const times = CALLS * rounds;
  const rows = [
    await row('spawn', PAUSE_MS, times, () => spawned('/bin/true', [])),
    await row('sh -c', PAUSE_MS, times, () => spawned('/bin/sh', ['-c', 'true'])),
  ];
  const remarks = [
    `${times} calls of each, ${PAUSE_MS} ms apart, one contender after the other.`,
    `"right after" is the second of two calls without a pause, ${PAIR_PAUSE_MS} ms after the two before them.`,
  ];
  const open = await sandboxes(workspace);
  for (const [name, settings, pause, calls] of [
    ['none', {sandbox: 'none', allow_insecure_none: true}, PAUSE_MS, times],
    ['bubblewrap', {sandbox: 'bubblewrap'}, PAUSE_MS, times],
    ['bubblewrap, no pause', {sandbox: 'bubblewrap'}, 0, times],
    ['docker, session', {sandbox: 'docker'}, PAUSE_MS, times],
    ['docker, fresh', {sandbox: 'docker', isolation: 'fresh'}, 0, Math.min(times, 10)],
  ]) {
    const sandbox = open(settings);
    const report = await sandbox.probe();
    if (report.ok) {
      rows.push(await row(name, pause, calls, () => runTrue(sandbox)));
      if (name === 'bubblewrap') rows.push(await rightAfter(name, calls, () => runTrue(sandbox)));
    } else remarks.push(`${name} is not here: ${report.error.message.split('.')[0]}.`);
    await sandbox.close();
  }
  rmSync(workspace, {recursive: true, force: true});
  return {tables: [{title: 'true', rows}], remarks};
}

async function sandboxes(workspace) {
  const {systemClock} = await loadOurs('core/clock.js');
  const {createSandbox} = await loadOurs('sandbox/create-sandbox.js');
  const {runSection} = await loadOurs('sandbox/options.js');
  const {FORGE_TEST_DOCKER_HOST: host, FORGE_TEST_DOCKER_IMAGE: image} = process.env;
  const env = {...process.env, ...(host && {DOCKER_HOST: host})};
  const docker = {image: image ?? 'debian:bookworm-slim', user: ''};
  const ports = {workspace, protectedPaths: [], env, clock: systemClock, log: () => {}};
  return settings => createSandbox({...defaultsOf(runSection), ...settings, docker}, ports);
}

async function runTrue(sandbox) {
  const {signal} = new AbortController();
  const ran = await sandbox.run({command: 'true', env: {}, timeoutMs: 60_000, signal});
  if (!ran.ok) throw new Error(ran.error.message);
}

/** Not in turn: what a box prepares ahead would then be ready at no cost of its own. */
async function row(name, pauseMs, times, work) {
  const costs = [];
  for (let round = -3; round < times; round += 1) {
    await new Promise(resolve => setTimeout(resolve, pauseMs));
    const start = performance.now();
    await work();
    if (round >= 0) costs.push(performance.now() - start);
  }
  return {name, costs};
}

async function rightAfter(name, times, work) {
  const costs = [];
  for (let round = -3; round < times; round += 1) {
    await new Promise(resolve => setTimeout(resolve, PAIR_PAUSE_MS));
    await work();
    const start = performance.now();
    await work();
    if (round >= 0) costs.push(performance.now() - start);
  }
  return {name: `${name}, right after`, costs};
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
