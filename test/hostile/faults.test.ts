import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {beforeAll, describe, expect, test} from 'vitest';
import {compileInto} from '../support/compile-into.ts';
import {type PathHandler, startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {needs} from '../support/parts.ts';
import {FAULT_FLOWS} from './support/faults-flows.ts';
import type {FaultReport} from './support/faults-host.ts';

const PAGE = '<!doctype html><title>Page</title><main><h1>Page</h1><p>Some text of it.</p></main>';
const html: Readonly<Record<string, string>> = {'content-type': 'text/html'};
const answer =
  (body: string | Buffer, headers = html): PathHandler =>
  (_, response) =>
    response.writeHead(200, headers).end(body);

const SITE: Readonly<Record<string, PathHandler>> = {
  '/robots.txt': answer('User-agent: *\nDisallow: /private/\n', {'content-type': 'text/plain'}),
  '/page': answer(PAGE),
  '/private/page': answer(PAGE),
  '/redirect': (_, response) => response.writeHead(302, {location: '/page'}).end(),
  '/gzip': answer(gzipSync(PAGE), {...html, 'content-encoding': 'gzip'}),
  '/large': answer(`${PAGE}<p>${'More words. '.repeat(6000)}</p>`),
};

let host: string;
let server: TestHttpServer;

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'forge-faults-host-'));
  compileInto(directory, ['test/hostile/support/faults-host.ts']);
  host = join(directory, 'test/hostile/support/faults-host.js');
  server = await startHttpServer(SITE);
  return async () => {
    await server.close();
    rmSync(directory, {recursive: true});
  };
}, 60_000);

/**
 * A third of the operations, another one each day. `FORGE_TEST_FAULTS` is that third (0, 1, 2) or `all`, as every night.
 */
const SHARE = process.env['FORGE_TEST_FAULTS'] || String(new Date().getUTCDate() % 3);

/** Runs a flow in a process of its own, with the operations of the share failing in turn. */
function failEverything(flow: string, sandbox = 'none'): Promise<FaultReport> {
  return new Promise((resolve, reject) => {
    const argv = [host, flow, `http://site.test:${server.port}`, sandbox, SHARE];
    execFile(process.execPath, argv, {timeout: 580_000, maxBuffer: 2 ** 26}, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stdout}${stderr}`));
      // A process that ended before its report has ended well all the same.
      else if (stdout === '') reject(new Error(`There is no report.\n${stderr}`));
      else resolve(JSON.parse(stdout) as FaultReport);
    });
  });
}

describe(`security: every operation of a call fails once, and from there on (share ${SHARE})`, () => {
  test.concurrent.each(Object.keys(FAULT_FLOWS))(
    '%s: a typed error or a success, nothing half written, nothing left open',
    async flow => {
      const {operations, runs, violations} = await failEverything(flow);
      expect(violations).toEqual([]);
      expect(operations).toBeGreaterThan(3);
      expect(runs).toBeGreaterThan(SHARE === 'all' ? operations : operations / 3);
    },
    600_000,
  );

  test('run in bubblewrap, its pipes and every fourth of the others: a typed error or a success, nothing left open', {
    ...needs('bubblewrap'),
    timeout: 600_000,
  }, async () => {
    const {violations} = await failEverything('run', 'bubblewrap');
    expect(violations).toEqual([]);
  });
});
