// npm run conformance: the official suite against the built transports of the product.
import {spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {serveHttp} from '../../dist/mcp/http/serve-http.js';
import {createFixtureService} from './fixture-service.js';
import {withToken} from './with-token.js';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const REVISIONS = ['2025-11-25', '2026-07-28'];

const token = randomBytes(32).toString('hex');
const served = await serveHttp(createFixtureService(), {token});
if (!served.ok) throw new Error(served.error.message);
const proxy = await withToken(served.value.url, token);
const outcomes = [];
for (const revision of REVISIONS) {
  const {code, output} = await runSuite(revision);
  outcomes.push({revision, code, ...summarize(output)});
}
proxy.close();
await served.value.close();

for (const {revision, code, required, failing, checks, optional} of outcomes) {
  const passed = required.length - failing.length;
  console.log(`${revision}: ${passed} of ${required.length} required scenarios pass (${checks} checks).`);
  if (failing.length > 0) console.log(`  failing: ${failing.join(', ')}`);
  console.log(`  not scored and not passing: ${optional.join(', ')}`);
  // A run that stopped half way has not passed, whatever it said before.
  if (code !== 0 || failing.length > 0 || required.length === 0) process.exitCode = 1;
}

function runSuite(revision) {
  const suite = ['conformance', 'server', '--url', proxy.url, '--requirements', revision];
  const child = spawn('npx', ['-y', '-p', 'node@22', '-p', SUITE, ...suite], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', chunk => {
    output += chunk;
    process.stdout.write(chunk);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code => resolve({code, output}));
  });
}

/** `✓ tools-list: 3 passed, 0 failed`, and under "Not scored" `✗ tasks-lifecycle (extension)`. */
function summarize(output) {
  const unscored = new Set([...output.matchAll(/^\s+[✓✗] ([\w-]+) \(/gm)].map(([, name]) => name));
  const scenarios = [...output.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)].map(
    ([, name, passed, failed]) => ({name, passed: Number(passed), isGood: passed !== '0' && failed === '0'}),
  );
  const required = scenarios.filter(({name}) => !unscored.has(name));
  return {
    required,
    failing: required.filter(({isGood}) => !isGood).map(({name}) => name),
    checks: required.reduce((sum, {passed}) => sum + passed, 0),
    optional: scenarios.filter(({name, isGood}) => unscored.has(name) && !isGood).map(({name}) => name),
  };
}
