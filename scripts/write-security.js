// Fills the table of SECURITY.md from reports of vitest: node scripts/write-security.js REPORT.json [REPORT.json ...]
import {readFileSync, writeFileSync} from 'node:fs';
import {relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {PROMISES} from './promises.js';
import {renderPromises} from './render-promises.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const reports = process.argv.slice(2).map(path => JSON.parse(readFileSync(path, 'utf8')));
if (reports.length === 0) throw new Error('Expected reports of vitest, got none. See npm run security.');
const tests = reports.flatMap(({testResults}) =>
  testResults.flatMap(({name, assertionResults}) =>
    assertionResults.map(({fullName, status}) => ({file: relative(root, name), title: fullName, status})),
  ),
);
const started = new Date(Math.min(...reports.map(({startTime}) => startTime)));
const table = renderPromises(PROMISES, tests);
const about = `Run of ${started.toISOString().slice(0, 10)}, Node ${process.version}, ${process.platform}: ${tests.length} tests in all.`;

const page = new URL('../SECURITY.md', import.meta.url);
const text = readFileSync(page, 'utf8');
const [before, after] = [
  /^[\s\S]*<!-- promises -->\n/.exec(text)?.[0],
  /<!-- end of promises -->[\s\S]*$/.exec(text)?.[0],
];
if (before === undefined || after === undefined)
  throw new Error('SECURITY.md has lost the marks of its table.');
writeFileSync(page, `${before}\n${about}\n\n${table}\n\n${after}`);
