// What `forge-tools demo` prints, with what differs from run to run replaced: needs dist/.
import {execFile} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const PROGRAM = fileURLToPath(new URL('../dist/bin/forge-tools.js', import.meta.url));

/** Runs the demo in a place of its own, and hands what it printed and its report to `use`, while they are there. */
export async function recordDemo(use) {
  const place = await mkdtemp(join(tmpdir(), 'forge-pictures-'));
  try {
    const {NO_COLOR: _, ...env} = process.env;
    const {stdout} = await promisify(execFile)(process.execPath, [PROGRAM, 'demo'], {
      cwd: place,
      env: {...env, TMPDIR: place, FORCE_COLOR: '1', CI: '1'},
    });
    const report = /(\/\S*\/report\.html)/.exec(stdout)?.[1];
    if (report === undefined) throw new Error(`The demo names no report:\n${stdout}`);
    return await use({text: masked(stdout, place), report});
  } finally {
    await rm(place, {recursive: true, force: true});
  }
}

/** Ports, places, names of sandboxes and times are of one run. */
function masked(text, place) {
  return text
    .replaceAll(place, '/tmp')
    .replace(/forge-demo-\w+/g, 'forge-demo-x7Tq2a')
    .replace(/(127\.0\.0\.1|169\.254\.169\.254\]|a9fe:a9fe\]):\d+/g, '$1:8017')
    .replace(/\b\d+\.\d+ s, (?:bubblewrap|docker)/g, '0.03 s, bubblewrap');
}
