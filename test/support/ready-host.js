// A host that renders a page and then has a Chromium that waits: node ready-host.js URL CHROMIUM stay|end|exit
// It writes the numbers of the processes that wait; then it stays until it is killed, or ends without closing anything.
import {readdirSync, readFileSync} from 'node:fs';
import {createToolbox} from '../../dist/index.js';

const [url = '', chromium_path, then] = process.argv.slice(2);
const webfetch = {
  cache_dir: '',
  browser: {chromium_path, keep_ready: true},
  security: {
    block_loopback: false,
    allow_insecure_overrides: true,
    allowed_ports: [Number(new URL(url).port)],
  },
};
const toolbox = createToolbox({config: {tools: {webfetch}}});
const rendered = await toolbox.webFetch({url, force_browser: true});
if (!rendered.ok) throw new Error(rendered.error.message);
let waiting = [];
// Its empty page is one of them.
while (!waiting.some(({command}) => command.includes('--type=renderer'))) {
  await new Promise(resolve => setTimeout(resolve, 50));
  waiting = chromiums();
}
console.log(JSON.stringify(waiting.map(({pid}) => pid)));
if (then === 'stay') setInterval(() => {}, 1000);
if (then === 'exit') process.exit(0);

function chromiums() {
  const found = new Map();
  for (const entry of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      found.set(Number(entry), {parent, command: readFileSync(`/proc/${entry}/cmdline`, 'latin1')});
    } catch {
      // It ended while the list was read.
    }
  }
  const isBelow = pid => {
    const {parent} = found.get(pid) ?? {parent: 0};
    return parent === process.pid || (parent > 1 && isBelow(parent));
  };
  return [...found].filter(([pid]) => isBelow(pid)).map(([pid, {command}]) => ({pid, command}));
}
