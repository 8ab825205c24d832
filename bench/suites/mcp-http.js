// web_fetch of a cached page over MCP's HTTP: 64 clients at once, each with its next call when it has its answer.
import {spawn} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {Agent, request} from 'node:http';
import {dirname, join} from 'node:path';
import {corpora} from '../corpora.js';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {distDirectory, loadOurs} from '../load.js';

const CLIENTS = 64;
const URL_READ = 'https://bench.example/article';
const PAGE_CHARACTERS = 5000;
/** Of each round. For the 100,000 that show whether memory grows: --rounds 200. */
const CALLS = 500;
/** Calls after which a row says what the server takes. */
const MARKS = [10_000, 50_000, 100_000];
const TOKEN = 'bench'.repeat(8);
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': {name: 'bench', version: '1'},
  'io.modelcontextprotocol/clientCapabilities': {},
};

export function measure({rounds}) {
  return inTemporaryDirectory(base => measureIn(base, rounds));
}

async function measureIn(base, rounds) {
  await cachePage(join(base, 'cache'));
  const server = await startServer(base);
  const agent = new Agent({keepAlive: true, maxSockets: CLIENTS});
  const speeds = [];
  const medians = [];
  const slowest = [];
  const memory = [];
  const memoryAtStart = server.memoryMb();
  try {
    await round(server.url, agent, CALLS);
    for (let at = 0; at < rounds; at += 1) {
      const {wallMs, latencies} = await round(server.url, agent, CALLS);
      speeds.push(wallMs / CALLS);
      medians.push(quantile(latencies, 0.5));
      slowest.push(quantile(latencies, 0.99));
      memory.push(server.memoryMb());
    }
  } finally {
    agent.destroy();
    await server.close();
  }
  const marks = MARKS.filter(calls => calls <= rounds * CALLS);
  const memoryAfter = calls => memory[calls / CALLS - 1];
  // By then its code is compiled, and its heap is as large as it becomes.
  const warm = marks.length > 1 ? memoryAfter(marks[0]) : memory[0];
  const markRows = marks.map(calls => ({
    name: `after ${calls.toLocaleString('en')} calls`,
    costs: [memoryAfter(calls)],
  }));
  return {
    tables: [
      {
        title: `cached web_fetch, ${CLIENTS} clients`,
        unit: 'a second',
        rows: [{name: 'calls', costs: speeds, calls: 1}],
      },
      {
        title: 'one call',
        rows: [
          {name: 'p50', costs: medians},
          {name: 'p99', costs: slowest},
        ],
      },
      {
        title: 'memory of the server',
        unit: 'MB',
        rows: [
          {name: 'at the start', costs: [memoryAtStart]},
          ...markRows,
          {name: 'after each round', costs: memory},
        ],
      },
    ],
    bars: [
      {text: 'p99: times p50', values: slowest.map((ms, at) => ms / medians[at]), atMost: 5},
      {
        text: `memory at the end: times that after ${marks.length > 1 ? '10,000 calls' : 'the first round'}`,
        values: [memory.at(-1) / warm],
        atMost: 1.2,
      },
    ],
    remarks: [
      `${rounds} rounds of ${CALLS} calls after one to warm up; a page of ${PAGE_CHARACTERS} characters. Clients and server share the core.`,
    ],
  };
}

async function cachePage(directory) {
  const {cacheKey} = await loadOurs('web/cache/files.js');
  const {printEntry} = await loadOurs('web/cache/entry.js');
  const {entryPath} = await loadOurs('web/cache/files.js');
  const {planChunks} = await loadOurs('web/chunk/plan-chunks.js');
  const {countTokens} = await loadOurs('web/tokens/count-tokens.js');
  const markdown = corpora().prose.slice(0, PAGE_CHARACTERS);
  const {counts} = planChunks(markdown, {maxTokens: 600, countTokens});
  const path = entryPath(directory, cacheKey(URL_READ, 'http'));
  mkdirSync(dirname(path), {recursive: true, mode: 0o700});
  const now = Date.now();
  const entry = {
    canonical_url: URL_READ,
    rendering_method: 'http',
    fetched_at: new Date(now).toISOString(),
    expires_at: new Date(now + 86_400_000).toISOString(),
    last_accessed_at: new Date(now).toISOString(),
    notes: [],
    extracted: {markdown, title: 'Page'},
    counts,
  };
  writeFileSync(path, printEntry(entry));
}

async function startServer(base) {
  const config = join(base, 'config.toml');
  writeFileSync(
    config,
    `[tools]\nmode = "enabled"\n[tools.webfetch]\nenabled = true\nallow_auto_execution = true\ncache_dir = ${JSON.stringify(join(base, 'cache'))}\n`,
  );
  const main = join(distDirectory(), 'bin/forge-tools.js');
  const child = spawn(process.execPath, [main, 'mcp', '--http', '127.0.0.1:0', '--config', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {...process.env, HOME: base, XDG_STATE_HOME: join(base, 'state'), FORGE_TOOLS_MCP_TOKEN: TOKEN},
  });
  const ended = new Promise(resolve => child.once('close', resolve));
  const url = await new Promise((resolve, reject) => {
    let said = '';
    child.stderr.on('data', chunk => {
      said = `${said}${chunk}`.slice(-4000);
      const found = /Serving MCP at (\S+);/.exec(said)?.[1];
      if (found) resolve(new URL(found));
    });
    child.once('close', () => reject(new Error(`The server ended: ${said}`)));
  });
  return {
    url,
    memoryMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024,
    close: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** `calls` calls by all clients together. */
async function round(url, agent, calls) {
  const latencies = [];
  let left = calls;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const start = performance.now();
      const answer = await post(url, agent, calls - left);
      latencies.push(performance.now() - start);
      if (!answer.includes('token_count') || answer.includes('"isError":true')) {
        throw new Error(`Expected a page, got ${answer.slice(0, 500)}`);
      }
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({length: CLIENTS}, client));
  return {wallMs: performance.now() - start, latencies};
}

function post(url, agent, id) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: {name: 'web_fetch', arguments: {url: URL_READ}, _meta: META},
  });
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
    const sent = request(url, {method: 'POST', agent, headers}, response => {
      let text = '';
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function quantile(values, share) {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
