import {spawn} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {startHttpServer} from '../support/http-server.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const PROGRAM = resolve(import.meta.dirname, '../../dist/bin/forge-tools.js');
const LONG = `<h1>Long</h1>${'<p>One paragraph of many.</p>'.repeat(60)}`;

/** What a person sees who types `fetch` in a window of 12 lines, and what the pager got. */
async function fetchOnTerminal(html: string, pages = 1) {
  const server = await startHttpServer({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    '*': (_, response) => response.writeHead(200, {'Content-Type': 'text/html'}).end(html),
  });
  onTestFinished(() => server.close());
  const home = temporaryDirectory();
  const project = join(home, 'project');
  mkdirSync(project);
  const config = join(home, 'forge.toml');
  writeFileSync(
    config,
    `profile = "guarded"\n[tools.webfetch.security]\nallow_insecure_overrides = true\nblock_loopback = false\nallowed_ports = [${server.port}]\n`,
  );
  const pager = join(home, 'pager');
  writeFileSync(pager, '#!/bin/sh\ncat >"$SEEN"\necho paged\n');
  chmodSync(pager, 0o755);
  const seen = join(home, 'seen');
  const urls = Array.from({length: pages}, (_, index) => `${server.origin}/${index}`).join(' ');
  const line = `stty cols 80 rows 12; ${process.execPath} ${PROGRAM} fetch ${urls} --config ${config}`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: project,
    env: {PATH: process.env['PATH'], HOME: home, TERM: 'dumb', PAGER: pager, SEEN: seen},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', part => {
    said += part;
  });
  const code = await new Promise(done => child.once('close', done));
  return {code, said, seen: existsSync(seen) ? readFileSync(seen, 'utf8') : undefined};
}

test('policy: a page that is longer than the terminal goes to the pager', async () => {
  const {code, said, seen} = await fetchOnTerminal(LONG);
  expect(code).toBe(0);
  expect(seen?.match(/One paragraph of many/g)).toHaveLength(60);
  expect(said).toContain('paged');
  expect(said).not.toContain('One paragraph of many');
});

test('policy: a page that fits, and several pages, are printed', async () => {
  const short = await fetchOnTerminal('<h1>Short</h1><p>One paragraph of many.');
  expect(short.seen).toBeUndefined();
  expect(short.said).toContain('One paragraph of many');
  const two = await fetchOnTerminal(LONG, 2);
  expect(two.seen).toBeUndefined();
  expect(two.said).toContain('One paragraph of many');
});
