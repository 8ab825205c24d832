// A guarded fetch over a kept-alive loopback connection, beside undici's `request` and Node's `fetch`.
import {fork} from 'node:child_process';
import {once} from 'node:events';
import {availableParallelism, cpus} from 'node:os';
import {join} from 'node:path';
import {loadOurs, loadPeer} from '../load.js';
import {alternate, cpuTime, ratios, wallTime} from '../measure.js';

const OURS = 'forge-tools, guarded';
const UNDICI = 'undici request';
const SIZES = {'1 KB': 1024, '50 KB': 51_200, '1 MB': 1_048_576};
const MAX_BYTES = 2 ** 24;

export async function measure({rounds}) {
  const server = await serve();
  const guarded = await guardedFetch(server.port);
  const {Agent, request} = await loadPeer('undici');
  const dispatcher = new Agent({connections: 1, pipelining: 1});
  const tables = [];
  const bars = [];
  for (const [name, size] of Object.entries(SIZES)) {
    const url = `http://127.0.0.1:${server.port}/${size}`;
    const contenders = {
      [OURS]: async () => expectSize(await guarded.fetch(url), size),
      [UNDICI]: async () => {
        const {body} = await request(url, {dispatcher});
        expectSize(new Uint8Array(await body.arrayBuffer()), size);
      },
      "Node's fetch": async () => expectSize(new Uint8Array(await (await fetch(url)).arrayBuffer()), size),
    };
    for (const [kind, clock] of Object.entries({'on the wall': wallTime, 'our process alone': cpuTime})) {
      const costs = await alternate(contenders, 3 * rounds, {clock});
      const rows = Object.entries(costs).map(([row, ms]) => ({name: row, costs: ms, calls: 1}));
      tables.push({title: `${name}, ${kind}`, unit: 'a second', rows, ours: OURS});
      if (clock !== wallTime) continue;
      bars.push({text: `${name}: times undici`, values: ratios(costs[OURS], costs[UNDICI]), atLeast: 0.7});
    }
  }
  await Promise.all([guarded.close(), dispatcher.destroy()]);
  server.close();
  return {tables, bars, remarks: ['One request at a time; the server is a process of its own.']};
}

/** What a page's request goes through: the address is parsed, and checked, then connected to. */
async function guardedFetch(port) {
  const {Deadline} = await loadOurs('core/deadline.js');
  const {systemClock} = await loadOurs('core/clock.js');
  const {createGuard} = await loadOurs('web/guard/guard.js');
  const {checkUrl} = await loadOurs('web/guard/check-url.js');
  const {readGuardPolicy} = await loadOurs('web/guard/policy.js');
  const {HostPins} = await loadOurs('web/guard/guard.js');
  const {createSsrfValidator} = await loadOurs('web/guard/guard.js');
  const {createHttpTransport} = await loadOurs('web/transport/http-transport.js');
  const {parseUrl} = await loadOurs('web/url.js');
  const {resolveConfig} = await loadOurs('config/resolve-config.js');
  const {readEnvironment} = await loadOurs('config/environment.js');

  const security = {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]};
  const resolved = resolveConfig({tools: {webfetch: {security}}}, readEnvironment());
  const {policy} = expectOk(readGuardPolicy(expectOk(resolved).config.tools.webfetch.security));
  const noResolver = () => Promise.reject(new Error('Expected no name to be resolved.'));
  const guard = createGuard(createSsrfValidator(policy, noResolver), policy);
  const transport = createHttpTransport();
  const headers = {'User-Agent': 'bench', Accept: '*/*', 'Accept-Encoding': 'gzip, deflate, br'};
  return {
    async fetch(address) {
      const budget = new Deadline(20_000, systemClock);
      try {
        const checked = expectOk(checkUrl(expectOk(parseUrl(address)), policy));
        const target = expectOk(await guard.authorize(checked, new HostPins(), budget));
        const response = expectOk(await transport.request(target, {method: 'GET', headers}, budget));
        return expectOk(await response.read(MAX_BYTES));
      } finally {
        budget.close();
      }
    },
    close: () => transport.close(),
  };
}

/** The server is left free of the one core that we are pinned to, so that it does not compute at our cost. */
async function serve() {
  const pinned = availableParallelism() < cpus().length;
  const child = fork(join(import.meta.dirname, '../serve-bodies.js'), {
    execArgv: [],
    ...(pinned && {execPath: 'taskset', execArgv: ['-c', `0-${cpus().length - 1}`, process.execPath]}),
  });
  const [port] = await once(child, 'message');
  return {port, close: () => child.disconnect()};
}

function expectOk(result) {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

function expectSize(bytes, size) {
  if (bytes.length !== size) throw new Error(`Expected ${size} bytes, got ${bytes.length}.`);
}
