// From a clean clone to a guarded page in an MCP client, by the lines of README.md alone. Prints the seconds that each
// step takes, and those of CPU for a typed line: a busy machine waits. The bar is two minutes. Needs git, npm and a registry.
import {execFile, spawnSync} from 'node:child_process';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {Client} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BAR_SECONDS = 120;

const place = await mkdtemp(join(tmpdir(), 'forge-first-hour-'));
const [clone, home, project, prefix] = ['clone', 'home', 'project', 'prefix'].map(name => join(place, name));
const path = `${join(prefix, 'bin')}:${process.env.PATH}`;
const temporary = {TMPDIR: join(place, 'tmp')};
/** The settings and the cache of npm stay those of this machine; a global package goes into a folder of this run. */
const forNpm = {...process.env, ...temporary, PATH: path, npm_config_prefix: prefix, CI: '1'};
const forTools = {...temporary, PATH: path, HOME: home};

const server = createServer((request, response) => {
  if (request.url === '/robots.txt') return response.writeHead(404).end();
  response.writeHead(200, {'Content-Type': 'text/html'}).end('<h1>Hello</h1><p>A page of your own.</p>');
});
let total = 0;
let note = '';
try {
  for (const directory of [home, project, temporary.TMPDIR]) await mkdir(directory);
  await writeFile(join(project, 'notes.md'), 'Text of a file.\n');
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;

  await step('git clone', () => promisify(execFile)('git', ['clone', '--quiet', ROOT, clone]));
  const readme = await readFile(join(clone, 'README.md'), 'utf8');
  for (const [, line] of readme.matchAll(/^\$ (.+)$/gm)) await step(line, () => type(line));
  const setup = /^forge-tools setup [a-z-]+/m.exec(readme)[0];
  const entry = await step(setup, async () => {
    const {stdout} = await promisify(execFile)('sh', ['-c', setup], {cwd: project, env: forTools});
    return JSON.parse(stdout).mcpServers['forge-tools'];
  });
  const settings = join(home, '.config/forge-tools/config.toml');
  await step('read_file, and web_fetch as far as the guard', async () => {
    const [file, refused] = await inClient(entry, [
      ['read_file', {path: 'notes.md'}],
      ['web_fetch', {url}],
    ]);
    expectText(file, 'Text of a file.');
    expectText(refused, `add these lines at the end of ${settings}`);
    await mkdir(dirname(settings), {recursive: true});
    await writeFile(settings, JSON.parse(refused).message.split(`${settings}:\n`)[1]);
  });
  await step('web_fetch, with the lines of the refusal in the file', async () => {
    const [page] = await inClient(entry, [['web_fetch', {url}]]);
    expectText(page, 'A page of your own.');
  });
  process.stdout.write(`${seconds(total)}  in all; the bar is ${BAR_SECONDS} s\n`);
} finally {
  server.close();
  await rm(place, {recursive: true, force: true});
}

async function step(name, work) {
  const start = performance.now();
  const made = await work();
  const took = performance.now() - start;
  total += took;
  process.stdout.write(`${seconds(took)}  ${name}${note}\n`);
  note = '';
  return made;
}

function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1).padStart(6)} s`;
}

/** The README shows one line that fails: the fetch of an address that nobody should reach. */
function type(line) {
  const isTool = line.startsWith('forge-tools ');
  const {status, stdout, stderr} = spawnSync('sh', ['-c', `${line}\nended=$?\ntimes\nexit $ended`], {
    cwd: isTool ? project : clone,
    env: isTool ? forTools : forNpm,
    encoding: 'utf8',
  });
  // The last line that `times` prints is of the programs that the shell started.
  const [minutes, ...parts] = stdout
    .trimEnd()
    .split('\n')
    .at(-1)
    .match(/[\d.]+/g)
    .map(Number);
  note = ` (${seconds((60 * minutes + parts[0] + 60 * parts[1] + parts[2]) * 1000).trim()} of CPU)`;
  const isRefused = status === 1 && line.includes('169.254.169.254') && stderr.includes('ssrf_blocked');
  if (status !== 0 && !isRefused) throw new Error(`${line} ended with ${status}\n${stdout}${stderr}`);
}

/** The texts that an agent gets. Whoever is asked allows each call once. */
async function inClient({command, args}, calls) {
  const client = new Client({name: 'first-hour', version: '1'}, {capabilities: {elicitation: {form: {}}}});
  client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept',
    content: {decision: 'once'},
  }));
  await client.connect(
    new StdioClientTransport({command, args, cwd: project, env: forTools, stderr: 'ignore'}),
  );
  const texts = [];
  try {
    for (const [name, given] of calls) {
      const {content} = await client.callTool({name, arguments: given});
      texts.push(content[0].text);
    }
  } finally {
    await client.close();
  }
  return texts;
}

function expectText(text, part) {
  if (!text.includes(part)) throw new Error(`Expected an answer with ${JSON.stringify(part)}, got ${text}`);
}
