// Runs all tests, the hostile ones too, and writes what came out into SECURITY.md. Needs dist/: `npm run security`.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'forge-security-'));
const env = {...process.env, FORGE_TEST_REPORTS: place};
for (const config of ['vitest.config.ts', 'vitest.hostile.config.ts']) {
  run('node_modules/vitest/vitest.mjs', 'run', '--config', config);
}
// What failed stands in the table.
process.exitCode = run('scripts/write-security.js', join(place, 'tests.json'), join(place, 'hostile.json'));
rmSync(place, {recursive: true});

function run(script, ...args) {
  return spawnSync(process.execPath, [script, ...args], {cwd, env, stdio: 'inherit'}).status ?? 1;
}
