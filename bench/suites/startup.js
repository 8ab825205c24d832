// How long the command takes to print its version and its help, beside Node doing nothing.
import {spawnSync} from 'node:child_process';
import {join} from 'node:path';
import {distDirectory} from '../load.js';
import {alternate, ratios, wallTime} from '../measure.js';

const NODE = 'node -e 0';
const VERSION = 'forge-tools --version';
const HELP = 'forge-tools --help';

export async function measure({rounds}) {
  const main = join(distDirectory(), 'bin/forge-tools.js');
  const costs = await alternate(
    {
      [NODE]: () => run(['-e', '0']),
      [VERSION]: () => run([main, '--version']),
      [HELP]: () => run([main, '--help']),
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
    ],
  };
}

function run(args) {
  const {status, error} = spawnSync(process.execPath, args, {stdio: 'ignore'});
  if (error || status !== 0) throw new Error(`${args.join(' ')} ended with ${status}.`);
}
