// How long the command takes to print its version and its help, and to say which tools it has over MCP, beside Node doing nothing.
import {spawn, spawnSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {distDirectory} from '../load.js';
import {alternate, ratios, wallTime} from '../measure.js';

const NODE = 'node -e 0';
const VERSION = 'forge-tools --version';
const HELP = 'forge-tools --help';
const MCP = 'forge-tools mcp, to the first tools/list';

export function measure({rounds}) {
  return inTemporaryDirectory(directory => measureIn(directory, rounds));
}

async function measureIn(directory, rounds) {
  const main = join(distDirectory(), 'bin/forge-tools.js');
  const costs = await alternate(
    {
      [NODE]: () => run(['-e', '0']),
      [VERSION]: () => run([main, '--version']),
      [HELP]: () => run([main, '--help']),
      [MCP]: () => listTools(main, directory),
    },
    5 * rounds,
    {clock: wallTime, sampleMs: 0},
  );
  const rows = Object.entries(costs).map(([name, ms]) => ({name, costs: ms}));
  return {
    tables: [{title: 'whole processes', rows}],
    bars: [
      {text: `${VERSION}: times ${NODE}`, values: ratios(costs[NODE], costs[VERSION]), atMost: 1.3},
      {text: `${HELP}: times ${NODE}`, values: ratios(costs[NODE], costs[HELP]), atMost: 1.5},
      {text: `${MCP}: times ${NODE}`, values: ratios(costs[NODE], costs[MCP]), atMost: 2.2},
    ],
  };
}

function run(args) {
  const {status, error} = spawnSync(process.execPath, args, {stdio: 'ignore'});
  if (error || status !== 0) throw new Error(`${args.join(' ')} ended with ${status}.`);
}

const OPENING = [
  {
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: {name: 'bench', version: '1'},
    },
  },
  {method: 'notifications/initialized'},
  {id: 1, method: 'tools/list'},
];

/** From the start to the answer; the process is killed then, so that how it ends is not in the time. */
function listTools(main, directory) {
  const workspace = join(directory, 'workspace');
  mkdirSync(workspace, {recursive: true});
  const child = spawn(process.execPath, [main, 'mcp', '--workspace', workspace], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {...process.env, HOME: directory, XDG_STATE_HOME: join(directory, 'state')},
  });
  child.stdin.write(OPENING.map(message => `${JSON.stringify({jsonrpc: '2.0', ...message})}\n`).join(''));
  return new Promise((resolve, reject) => {
    let answers = '';
    let isListed = false;
    child.stdout.on('data', chunk => {
      answers += chunk;
      isListed ||= answers.includes('"tools":[');
      if (isListed) child.kill('SIGKILL');
    });
    child.once('close', () => (isListed ? resolve() : reject(new Error(`No tools: ${answers}`))));
  });
}
