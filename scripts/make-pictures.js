// `npm run pictures`: the pictures of the README, from a run of the demo. Needs dist/, bubblewrap and Chromium.
import {execFile} from 'node:child_process';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {promisify} from 'node:util';
import {recordDemo} from './record-demo.js';
import {renderTerminal} from './render-terminal.js';
import {reportSource} from './report-source.js';

const CHROMIUM = process.env.FORGE_TEST_CHROMIUM_PATH ?? 'chromium';
const pictures = new URL('../docs/pictures/', import.meta.url);

await recordDemo(async ({text, report}) => {
  if (!text.includes('14 of 14 steps went as recorded')) {
    throw new Error(`The demo needs what this machine lacks:\n${text}`);
  }
  await writeFile(new URL('demo.txt', pictures), text);
  await writeFile(new URL('demo.svg', pictures), renderTerminal(text, 'forge-tools demo'));
  await photograph(pathToFileURL(report).href, fileURLToPath(new URL('report.png', pictures)));
  await writeFile(new URL('report.sha256', pictures), `${await reportSource(text)}\n`);
});

async function photograph(url, file) {
  const profile = await mkdtemp(join(tmpdir(), 'forge-pictures-'));
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const flags = [
    '--headless',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--hide-scrollbars',
    '--no-first-run',
  ];
  const shot = [`--user-data-dir=${profile}`, '--window-size=1280,1080', `--screenshot=${file}`, url];
  try {
    await promisify(execFile)(CHROMIUM, [...flags, ...sandbox, ...shot], {timeout: 60_000});
  } finally {
    await rm(profile, {recursive: true, force: true, maxRetries: 5});
  }
}
