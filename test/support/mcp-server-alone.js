// A server without the package, so that an entry can be started before anything is built. It offers one tool, with
// `--groups none` no tool, and with `--groups broken` it ends with a sentence on standard error.
import {createInterface} from 'node:readline';

const groups = process.argv[process.argv.indexOf('--groups') + 1];
if (groups === 'broken') {
  process.stderr.write('The configuration is wrong.\n');
  process.exit(2);
}

const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: {tools: {}},
    serverInfo: {name: 'alone', version: '1'},
  },
  'tools/list': {tools: groups === 'none' ? [] : [{name: 'echo', inputSchema: {type: 'object'}}]},
};

createInterface({input: process.stdin}).on('line', line => {
  const {id, method} = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write(`${JSON.stringify({jsonrpc: '2.0', id, result: RESULTS[method]})}\n`);
});
