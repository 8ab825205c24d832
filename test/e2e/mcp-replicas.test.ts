import {type ChildProcess, spawn} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {request} from 'node:http';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {type Balancer, startBalancer} from '../support/balancer.ts';
import {startOrigin} from '../support/fleet.ts';
import {needs} from '../support/parts.ts';
import {startRedis} from '../support/redis-engine.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));
const EXAMPLE = (name: string): string =>
  readFileSync(new URL(`../../examples/scale/${name}`, import.meta.url), 'utf8');
const TOKEN = 'token-of-the-replicas-'.repeat(2);
const PASSWORD = 'password-of-the-engine';
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': {name: 'test', version: '1'},
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Replica {
  readonly child: ChildProcess;
  readonly port: number;
  readonly ended: Promise<number | null>;
}

/**
 * The parts of the example as processes on loopback: the engine with the password and the policy of `compose.yaml`, replicas with
 * its command and its configuration, and HAProxy with its file. Other than there is where they listen, that pages of loopback may be
 * had, and that a look for a page may take long: all of them share the processors of one machine.
 */
async function openExample(count: number, originPort: number) {
  const engine = await startRedis('--requirepass', PASSWORD, '--appendonly', 'yes', '--maxmemory', '1gb');
  onTestFinished(() => engine.stop());
  const directory = temporaryDirectory();
  const config = join(directory, 'forge-tools.toml');
  const settings = EXAMPLE('forge-tools.toml').replace('redis://engine:6379/0', `${engine.url}/0`);
  expect(settings).toContain(engine.url);
  writeFileSync(
    config,
    `${settings}
max_per_host = 64
host_gap_ms = 0
budget_ms = 10000
[tools.webfetch.security]
allow_insecure_overrides = true
block_loopback = false
allowed_ports = [${originPort}]
`,
  );
  const command = /exec forge-tools (mcp --http .*)$/m.exec(EXAMPLE('compose.yaml'))?.[1] ?? '';
  const args = command
    .replace('0.0.0.0:8931', '127.0.0.1:0')
    .replace('/etc/forge-tools.toml', config)
    .split(' ');
  const start = async (at: number): Promise<Replica> => {
    const home = join(directory, String(at));
    const child = spawn(process.execPath, [MAIN, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {PATH: process.env['PATH'], HOME: home, FORGE_TOOLS_MCP_TOKEN: TOKEN, HUB_PASSWORD: PASSWORD},
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = new Promise<number | null>(resolve => child.once('close', code => resolve(code)));
    let said = '';
    const port = await new Promise<number>((resolve, reject) => {
      child.stderr.on('data', chunk => {
        said = `${said}${chunk}`.slice(-4000);
        const url = /Serving MCP at (\S+);/.exec(said)?.[1];
        if (url) resolve(Number(new URL(url).port));
      });
      child.once('close', () => reject(new Error(`The replica ended: ${said}`)));
    });
    return {child, port, ended};
  };
  const replicas = await Promise.all(Array.from({length: count}, (_, at) => start(at)));
  const balancer = await startBalancer(EXAMPLE('haproxy.cfg'), replicas);
  return {replicas, balancer, fetch: (url: string) => webFetch(balancer, url)};
}

/** A client of its own, which stands for itself. */
async function webFetch(
  {port}: Balancer,
  url: string,
): Promise<{readonly status: number; readonly text: string}> {
  const params = {name: 'web_fetch', arguments: {url}, _meta: META};
  const body = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/call', params});
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'web_fetch',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      {host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers, agent: false},
      answer => {
        let text = '';
        answer.setEncoding('utf8').on('data', part => {
          text += part;
        });
        answer.on('end', () => resolve({status: answer.statusCode ?? 0, text}));
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('S1 the example with replicas behind a balancer', needs('Redis', 'HAProxy'), () => {
  test('S1 8 replicas with 1,000 clients on 100 pages fetch each page once', {
    timeout: 180_000,
    tags: 'slow',
  }, async () => {
    const origin = await startOrigin(undefined, 50);
    const {fetch} = await openExample(8, origin.port);
    const answers = await Promise.all(
      Array.from({length: 1000}, (_, at) => fetch(`http://127.0.0.1:${origin.port}/page-${at % 100}`)),
    );
    for (const [at, {status, text}] of answers.entries()) {
      expect({status, text}).toMatchObject({
        status: 200,
        text: expect.stringContaining(`The text of /page-${at % 100}.`),
      });
    }
    expect(origin.pages()).toHaveLength(100);
    expect(origin.robots()).toHaveLength(1);
  });

  test('S1 a replica that is told to end loses no call, with calls under way and new ones all the time', {
    timeout: 120_000,
    tags: 'slow',
  }, async () => {
    const origin = await startOrigin(undefined, 300);
    const {replicas, balancer, fetch} = await openExample(3, origin.port);
    let isOver = false;
    let asked = 0;
    const clients = Array.from({length: 12}, async () => {
      const answers: string[] = [];
      while (!isOver) {
        asked += 1;
        const {status, text} = await fetch(`http://127.0.0.1:${origin.port}/call-${asked}`);
        answers.push(status === 200 && text.includes('The text of /call-') ? 'ok' : `${status} ${text}`);
      }
      return answers;
    });
    const answered = (count: number) =>
      expect.poll(() => origin.pages().length, {timeout: 30_000, interval: 20}).toBeGreaterThan(count);
    await answered(30);
    const [first] = replicas;
    first?.child.kill('SIGTERM');
    expect(await first?.ended).toBe(0);
    await answered(origin.pages().length + 30);
    isOver = true;
    const answers = (await Promise.all(clients)).flat();
    expect(answers.filter(answer => answer !== 'ok')).toEqual([]);
    expect(answers).toHaveLength(asked);
    expect(await balancer.ready()).toBe(2);
  });
});
