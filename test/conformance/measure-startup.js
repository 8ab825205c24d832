// node test/conformance/measure-startup.js [ARGUMENT …]: start of `node ARGUMENT …` to its first tools/list answer.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {fileURLToPath} from 'node:url';

const RUNS = 21;
const fixture = [fileURLToPath(new URL('../support/mcp-server-main.js', import.meta.url)), 'stdio'];
const args = process.argv.length > 2 ? process.argv.slice(2) : fixture;

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': {name: 'measure', version: '1'},
  'io.modelcontextprotocol/clientCapabilities': {},
};
const clientInfo = {name: 'measure', version: '1'};
const OPENINGS = {
  '2026-07-28': [{id: 1, method: 'tools/list', params: {_meta: meta}}],
  '2025-11-25': [
    {id: 0, method: 'initialize', params: {protocolVersion: '2025-11-25', capabilities: {}, clientInfo}},
    {method: 'notifications/initialized'},
    {id: 1, method: 'tools/list'},
  ],
};

for (const [revision, messages] of Object.entries(OPENINGS)) {
  const times = [];
  for (let run = 0; run < RUNS; run += 1) times.push(await measure(messages));
  times.sort((a, b) => a - b);
  const [fastest, median, slowest] = [0, (RUNS - 1) / 2, RUNS - 1].map(index => times[index].toFixed(0));
  console.log(`${revision}: median ${median} ms (${fastest} to ${slowest}) of ${RUNS} starts`);
}

async function measure(messages) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {stdio: ['pipe', 'pipe', 'ignore']});
  for (const message of messages) child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
  let out = '';
  for await (const chunk of child.stdout.iterator({destroyOnReturn: false})) {
    out += chunk;
    if (out.includes('"tools":[')) break;
  }
  const elapsed = performance.now() - startedAt;
  child.stdout.resume();
  child.stdin.end();
  await once(child, 'close');
  return elapsed;
}
