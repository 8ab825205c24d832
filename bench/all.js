// Runs every bench, one after the other; what this machine cannot measure is named and passed over.
// usage: npm run bench [-- NAME ...]
import {spawnSync} from 'node:child_process';
import {join} from 'node:path';

const BENCHES = ['web', 'workspace', 'browser', 'sandbox'];
const wanted = process.argv.slice(2);
const unknown = wanted.filter(name => !BENCHES.includes(name));
if (unknown.length > 0) {
  console.error(`There is no bench "${unknown.join('", "')}". There are ${BENCHES.join(', ')}.`);
  process.exit(2);
}
for (const name of wanted.length > 0 ? wanted : BENCHES) {
  console.log(`\n== ${name}\n`);
  const {status} = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.js`)], {stdio: 'inherit'});
  if (status !== 0) console.log(`(not measured: bench/${name}.js ended with ${status})`);
}
