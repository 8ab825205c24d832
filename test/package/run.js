// npm run test:package: the packed tarball as publint, are-the-types-wrong, esbuild, webpack, Next, Bun and Deno see it. Needs
// dist/.
import {execFile, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {pack, unpackPackage} from '../../scripts/release/unpack-package.js';

const HERE = fileURLToPath(new URL('./', import.meta.url));
if (!existsSync(join(HERE, 'node_modules'))) {
  const {status} = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {cwd: HERE, stdio: 'inherit'});
  if (status !== 0) process.exit(1);
}
const {publint} = await import('publint');
const {formatMessage} = await import('publint/utils');
const {checkPackage, createPackageFromTarballData} = await import('@arethetypeswrong/core');
const esbuild = await import('esbuild');
const webpack = createRequire(import.meta.url)('webpack');

const APPLICATION = `import {canonicalizeUrl, countTokens, createToolbox} from 'forge-tools';
console.log(canonicalizeUrl('HTTPS://a.example:443/b'), countTokens('hello world'), typeof createToolbox);\n`;
/** Reads a tree and a page, and changes a file where it is asked to. */
const AGENT = `import {createServer} from 'node:http';
import {mkdirSync, writeFileSync} from 'node:fs';
import {createToolbox} from 'forge-tools';
mkdirSync('tree', {recursive: true});
writeFileSync('tree/a.txt', 'hello\\n');
const server = createServer((request, response) => {
  if (request.url === '/robots.txt') return response.writeHead(404).end();
  response.writeHead(200, {'Content-Type': 'text/html'}).end('<main><h1>Title</h1><p>' + 'Words of a page. '.repeat(5000));
});
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
const {port} = server.address();
const security = {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]};
const toolbox = createToolbox({
  workspace: 'tree',
  runDirectory: 'run-' + process.pid,
  approver: {ask: async () => ({answer: 'once'})},
  config: {tools: {webfetch: {cache_dir: '', security}}},
});
const says = [];
const call = async (tool, params) => says.push((await toolbox.call({tool, params, request_id: tool})).error?.message ?? tool);
await call('list_files', {});
await call('read_file', {path: 'a.txt'});
await call('search', {query: 'hello'});
await call('web_fetch', {url: 'http://127.0.0.1:' + port + '/'});
if (process.argv.includes('change')) {
  await call('str_replace', {path: 'a.txt', old_string: 'hello', new_string: 'bye'});
  await call('undo', {});
}
await toolbox.close();
server.close();
console.log(says.join(' '));\n`;
const READS = 'list_files read_file search web_fetch';

const SAYS = 'https://a.example/b 2 function\n';

/** A route of a server that Next builds with its own bundler, without a setting about this package. */
const ROUTE = `import {canonicalizeUrl, countTokens, createToolbox} from 'forge-tools';
export const dynamic = 'force-dynamic';
export async function GET() {
  const toolbox = createToolbox({workspace: '.', runDirectory: process.env.RUN_DIRECTORY});
  const {data, error} = await toolbox.call({tool: 'search', params: {query: 'force-dynamic'}, request_id: '1'});
  await toolbox.close();
  return Response.json([canonicalizeUrl('HTTPS://a.example:443/b'), countTokens('hello world'), error?.message ?? data.total_matches > 0]);
}\n`;
const NEXT_SAYS = '["https://a.example/b",2,true]';

/** Deno refuses what a change of a file needs, so it is asked to read. */
const RUNTIMES = {
  Bun: {program: join(HERE, 'node_modules/@oven/bun-linux-x64/bin/bun'), args: ['run'], asked: ['change']},
  Deno: {program: join(HERE, 'node_modules/@deno/linux-x64-glibc/deno'), args: ['run', '-A'], asked: []},
};

const place = await mkdtemp(join(tmpdir(), 'forge-package-'));
// What the programs below keep goes with it.
process.env.XDG_STATE_HOME = join(place, 'state');
const problems = [];
try {
  const tarball = await pack(place);
  const target = await unpackPackage(tarball, join(place, 'node_modules'));
  await check('publint', () => lint(target));
  await check('are the types wrong', () => types(tarball));
  await writeFile(join(place, 'app.mjs'), APPLICATION);
  for (const format of ['esm', 'cjs']) await check(`esbuild (${format})`, () => withEsbuild(format));
  await check('webpack, as Next bundles a server', withWebpack);
  const next = join(HERE, 'node_modules/next/dist/bin/next');
  if (existsSync(next)) await check('Next', () => withNext(next, tarball));
  else process.stdout.write('absent  Next (its packages are optional)\n');
  await check('require()', () =>
    says(
      writeFileIn(
        'r.cjs',
        `const {countTokens} = require('forge-tools'); console.log(countTokens('hello world'));\n`,
      ),
      '2\n',
    ),
  );
  await writeFile(join(place, 'agent.mjs'), AGENT);
  // Deno looks a package up by this file.
  await writeFile(join(place, 'package.json'), JSON.stringify({dependencies: {'forge-tools': '*'}}));
  for (const [name, runtime] of Object.entries(RUNTIMES)) {
    if (existsSync(runtime.program)) await check(name, () => withRuntime(runtime));
    else process.stdout.write(`absent  ${name} (its package is for Linux on x64)\n`);
  }
} finally {
  await rm(place, {recursive: true, force: true});
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;

async function check(name, look) {
  try {
    const found = await look();
    process.stdout.write(`${found.length === 0 ? 'ok    ' : 'FAILED'}  ${name}\n`);
    problems.push(...found.map(problem => `${name}: ${problem}`));
  } catch (error) {
    process.stdout.write(`FAILED  ${name}\n`);
    problems.push(`${name}: ${error.stderr || error.stack}`);
  }
}

async function lint(pkgDir) {
  const {messages} = await publint({pkgDir, level: 'suggestion', pack: false});
  const manifest = JSON.parse(await readFile(join(pkgDir, 'package.json'), 'utf8'));
  return messages.map(message => formatMessage(message, manifest, {color: false}));
}

/** The resolution of Node 10 and the bundlers of its time is not looked at for `./mcp`: it knows no `exports`. */
async function types(tarball) {
  const checked = await checkPackage(createPackageFromTarballData(await readFile(tarball)));
  if (!checked.types) return ['there are no types'];
  return checked.problems
    .filter(({resolutionKind, entrypoint, kind}) => {
      // An ES module that is required gives its exports since Node 20.19, which is the oldest that we run on.
      if (kind === 'CJSResolvesToESM') return false;
      return !(resolutionKind === 'node10' && entrypoint !== '.');
    })
    .map(problem => JSON.stringify(problem));
}

async function withEsbuild(format) {
  const outfile = join(place, `out/esbuild/${format}/app.${format === 'esm' ? 'mjs' : 'cjs'}`);
  await esbuild.build({
    entryPoints: [join(place, 'app.mjs')],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    outfile,
    logLevel: 'silent',
  });
  return says(outfile, SAYS);
}

async function withWebpack() {
  const compiler = webpack({
    mode: 'production',
    target: 'node20',
    entry: join(place, 'app.mjs'),
    output: {path: join(place, 'out/.next/server'), filename: 'app.cjs', chunkFilename: '[id].cjs'},
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  await promisify(compiler.close.bind(compiler))();
  if (stats.hasErrors()) return stats.toJson().errors.map(({message}) => message);
  return says(join(place, 'out/.next/server/app.cjs'), SAYS);
}

/** The application is below this folder, as Next resolves itself and React from there. */
async function withNext(next, tarball) {
  const app = await mkdtemp(join(HERE, 'next-'));
  const env = {...process.env, NEXT_TELEMETRY_DISABLED: '1', RUN_DIRECTORY: join(place, 'run-of-next')};
  try {
    await unpackPackage(tarball, join(app, 'node_modules'));
    await mkdir(join(app, 'app/api'), {recursive: true});
    await writeFile(join(app, 'app/api/route.js'), ROUTE);
    await writeFile(join(app, 'package.json'), '{"type": "module"}');
    const root = JSON.stringify(HERE);
    await writeFile(
      join(app, 'next.config.js'),
      `export default {turbopack: {root: ${root}}, outputFileTracingRoot: ${root}};\n`,
    );
    await promisify(execFile)(process.execPath, [next, 'build'], {cwd: app, env, maxBuffer: 2 ** 24});
    return await servesWithNext(next, app, env);
  } finally {
    await rm(app, {recursive: true, force: true});
  }
}

async function servesWithNext(next, cwd, env) {
  const argv = [next, 'start', '--port', '0', '--hostname', '127.0.0.1'];
  const server = spawn(process.execPath, argv, {cwd, env, stdio: ['ignore', 'pipe', 'inherit']});
  const ended = once(server, 'exit');
  try {
    for await (const line of createInterface(server.stdout)) {
      const origin = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(line)?.[0];
      if (origin === undefined) continue;
      const said = await (await fetch(`${origin}/api`)).text();
      return said === NEXT_SAYS ? [] : [`it says ${JSON.stringify(said)}`];
    }
    return ['it ended before it served'];
  } finally {
    server.kill();
    await ended;
  }
}

async function withRuntime({program, args, asked}) {
  const {stdout} = await promisify(execFile)(program, [...args, join(place, 'agent.mjs'), ...asked], {
    cwd: place,
  });
  const expected = `${READS}${asked.includes('change') ? ' str_replace undo' : ''}\n`;
  return stdout === expected ? [] : [`it says ${JSON.stringify(stdout)}`];
}

async function writeFileIn(name, code) {
  await mkdir(place, {recursive: true});
  await writeFile(join(place, name), code);
  return join(place, name);
}

async function says(file, expected) {
  const {stdout} = await promisify(execFile)(process.execPath, [await file], {cwd: tmpdir()});
  return stdout === expected ? [] : [`it says ${JSON.stringify(stdout)}`];
}
