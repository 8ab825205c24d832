// How long the command takes to say its version, beside Node doing nothing.
import {spawnSync} from 'node:child_process';
import {join} from 'node:path';
import {distDirectory} from '../load.js';
import {alternate, ratios, wallTime} from '../measure.js';

const NODE = 'node -e 0';
const VERSION = 'forge-tools --version';

export async function measure({rounds}) {
  const main = join(distDirectory(), 'bin/forge-tools.js');
  const costs = await alternate(
    {
      [NODE]: () => run(['-e', '0']),
      [VERSION]: () => run([main, '--version']),
      'forge-tools --help': () => run([main, '--help']),
    },
    5 * rounds,
    {clock: wallTime, sampleMs: 0},
  );
  const rows = Object.entries(costs).map(([name, ms]) => ({name, costs: ms}));
  return {
    tables: [{title: 'whole processes', rows}],
    bars: [{text: `${VERSION}: times ${NODE}`, values: ratios(costs[NODE], costs[VERSION]), atMost: 1.3}],
  };
}

function run(args) {
  const {status, error} = spawnSync(process.execPath, args, {stdio: 'ignore'});
  if (error || status !== 0) throw new Error(`${args.join(' ')} ended with ${status}.`);
}
