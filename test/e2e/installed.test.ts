// The package as somebody has it who installed it, from its tarball and in an empty folder: what the pages say works.
import {spawn} from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Client} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {unpackPackage} from '../../scripts/release/unpack-package.js';
import {startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {packedPackage} from '../support/packed-package.ts';
import {has, needs} from '../support/parts.ts';
import {startRedis} from '../support/redis-engine.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs')).map(name => `docs/${name}`)].filter(name =>
  name.endsWith('.md'),
);

/** Lines that start the program, in blocks of commands, without their remarks. */
function commandsOf(page: string): readonly string[] {
  const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  return blocks
    .flatMap(([, block = '']) => block.split('\n'))
    .map(line => line.replace(/\s+#.*$/, '').trim())
    .filter(line => line.startsWith('forge-tools '));
}

/** `forge-tools setup CLIENT …` where a page has it within a sentence or a table. */
function setupsOf(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/`(forge-tools setup [a-z][^`]*)`/g)].map(([, line = '']) => line);
}

let modules = '';

beforeAll(async () => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'forge-installed-')));
  modules = join(place, 'node_modules');
  await unpackPackage(await packedPackage(), modules);
  mkdirSync(join(modules, '.bin'));
  symlinkSync('../forge-tools/dist/bin/forge-tools.js', join(modules, '.bin/forge-tools'));
  symlinkSync(join(ROOT, 'node_modules/@redis'), join(modules, '@redis'));
  return () => rmSync(place, {recursive: true, force: true});
}, 120_000);

interface Home {
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  /** Where the commands are typed: it is empty. */
  readonly folder: string;
}

/** A user's home with nothing in it but the opening of one page, which docs/quickstart.md shows. */
function openHome(port?: number, settings = ''): Home {
  const home = temporaryDirectory();
  const folder = join(home, 'project');
  mkdirSync(folder);
  if (port !== undefined) {
    mkdirSync(join(home, 'config/forge-tools'), {recursive: true});
    writeFileSync(
      join(home, 'config/forge-tools/config.toml'),
      `[[tools.webfetch.allow_private]]\nhost = "127.0.0.1"\ncidr = "127.0.0.0/8"\nports = [${port}]\n${settings}`,
    );
  }
  const env = {
    PATH: `${join(modules, '.bin')}:${process.env['PATH']}`,
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: join(home, 'state'),
    CI: '1',
  };
  return {env, home, folder};
}

async function serveExample(): Promise<{readonly origin: string; readonly port: number}> {
  const server: TestHttpServer = await startHttpServer({
    '/': (_, response) =>
      response
        .writeHead(200, {'Content-Type': 'text/html'})
        .end('<title>Example</title><h1>Example</h1><p>An example for documents.</p>'),
    // A search engine that finds the page.
    '/search': (_, response) => {
      const results = [{url: `${server.origin}/`, title: 'Example', content: 'An example.'}];
      response.writeHead(200, {'Content-Type': 'application/json'}).end(JSON.stringify({results}));
    },
  });
  onTestFinished(() => server.close());
  return {origin: server.origin, port: Number(new URL(server.origin).port)};
}

/** Types a line. The test goes on meanwhile: it serves the pages. */
async function type(
  line: string,
  {env, folder}: Home,
): Promise<{readonly code: number | null; readonly said: string}> {
  const child = spawn('sh', ['-c', line], {cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe']});
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', part => {
      said += part;
    });
  }
  const code = await new Promise<number | null>(resolve => child.once('close', resolve));
  return {code, said};
}

test('policy: a document that needs all of the standard is read where no other package is installed', async () => {
  const folder = join(modules, '..');
  const code =
    'import {htmlToMarkdown} from "forge-tools"; console.log(htmlToMarkdown("<template><p>x</template>read", "https://a.example/").trim());';
  writeFileSync(join(folder, 'page.mjs'), code);
  const {said} = await type(`node ${join(folder, 'page.mjs')}`, openHome());
  expect(said).toBe('read\n');
});

describe('what the pages say, from an installed tarball', () => {
  test('policy: every command of a block of commands', {...needs('Redis'), timeout: 180_000}, async () => {
    const {origin, port} = await serveExample();
    // What docs/scale.md asks for: a server, its address, and the client.
    const engine = await startRedis();
    onTestFinished(() => engine.stop());
    const searching = `[[tools.websearch.engines]]\nkind = "searxng"\nendpoint = "${origin}/search"\n`;
    const home = openHome(port, `[tools.hub]\nurl = "${engine.url}"\n${searching}`);
    writeFileSync(join(home.folder, 'urls.txt'), `${origin}/\n`);
    // A fetch at no terminal is a call of a person; a write of an agent waits for an approval.
    await type('forge-tools call write_file \'{"path": "a", "content": "b"}\'', home);
    const waiting = /\b[0-9a-f]{20}\b/.exec((await type('forge-tools approve', home)).said)?.[0] ?? '';
    const lines = PAGES.flatMap(page => commandsOf(page).map(line => [page, line] as const));
    expect(lines.length).toBeGreaterThan(8);
    for (const [page, line] of lines) {
      const real = line.replace('https://example.com/', `${origin}/`).replace(/\b[0-9a-f]{20}\b/, waiting);
      if (/ mcp --http/.test(real)) {
        await startsAndStops(real.replace(':8931', ':0'), home);
        continue;
      }
      const {code, said} = await type(real, home);
      // doctor says by its code that something is missing on this machine.
      const expected = real.includes('doctor') ? /^[01]$/ : /^0$/;
      expect(String(code), `${page}: ${line}\n${said}`).toMatch(expected);
    }
  });

  test('policy: every entry for a client', async () => {
    const lines = new Set(PAGES.flatMap(setupsOf));
    expect(lines.size).toBeGreaterThan(8);
    for (const line of lines) {
      const {code, said} = await type(`yes | ${line}`, openHome());
      expect(code, `${line}\n${said}`).toBe(0);
      expect(said).toContain('forge-tools');
    }
  }, 180_000);

  test('policy: every example of the README and of the library page', async () => {
    const {origin, port} = await serveExample();
    const config = {
      tools: {webfetch: {allow_private: [{host: '127.0.0.1', cidr: '127.0.0.0/8', ports: [port]}]}},
    };
    const prints = {
      'toolbox.search(': 'The colour of it',
      'toolbox.strReplace(': '-The colour of it',
      'toolbox.run(': 'exit code 0 in bubblewrap',
      'toolbox.writeFile(': '6',
      'toolbox.webFetch(': 'Example',
      'toolbox.call(': '2',
    };
    const examples = ['README.md', 'docs/library.md']
      .flatMap(page => [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)])
      .map(([, code = '']) => code)
      .filter(code => !code.includes('toolbox.run(') || has('bubblewrap'));
    expect(examples.length).toBeGreaterThan(5);
    for (const code of examples) {
      const home = openHome();
      symlinkSync(modules, join(home.folder, 'node_modules'));
      writeFileSync(join(home.folder, 'README.md'), '# TODO\nThe colour of it\n');
      writeFileSync(join(home.folder, 'a.ts'), '// TODO\n// The colour of it\n');
      writeFileSync(join(home.folder, 'package.json'), '{"scripts": {"test": "echo tested"}}');
      const script = code
        .replaceAll('https://example.com/', `${origin}/`)
        .replace('createToolbox()', 'createToolbox({})')
        .replace('createToolbox({', `createToolbox({config: ${JSON.stringify(config)}, `)
        // What only the compiler reads.
        .replace(/\btype \w+, /, '')
        .replace(/: ApprovalRule =/, ' =');
      writeFileSync(join(home.folder, 'example.mjs'), script);
      const {code: exit, said} = await type('node example.mjs', home);
      expect(exit, `${code}\n${said}`).toBe(0);
      const [, expected] = Object.entries(prints).find(([call]) => code.includes(call)) ?? [];
      expect(said, code).toContain(expected);
    }
  }, 180_000);

  test('policy: docs/quickstart.md has the transcript of a first session', async () => {
    const {origin, port} = await serveExample();
    const home = openHome(port);
    const page = readFileSync(join(ROOT, 'docs/quickstart.md'), 'utf8');
    const documented = /^## A first session[\s\S]*?^```text\n([\s\S]*?)^```$/m.exec(page)?.[1];
    expect(await firstSession(origin, home)).toBe(documented);
    expect(readFileSync(join(home.folder, 'notes.md'), 'utf8')).toBe('An example for documents.\n');
  }, 120_000);
});

async function startsAndStops(line: string, {env, folder}: Home): Promise<void> {
  const child = spawn('sh', ['-c', `exec ${line}`], {cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe']});
  let said = '';
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    const hear = (part: Buffer): void => {
      said += part;
      if (/http:\/\/127\.0\.0\.1:\d+\/mcp/.test(said)) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('close', () => reject(new Error(`${line}\n${said}`)));
  });
  child.kill('SIGINT');
  expect(await ended, `${line}\n${said}`).toBe(0);
}

/** The official client, in an empty folder: lists, fetches, writes and reads. Each question is answered with yes, once. */
async function firstSession(origin: string, {env, folder}: Home): Promise<string> {
  const transcript: string[] = [];
  const client = new Client({name: 'first-session', version: '1'}, {capabilities: {elicitation: {form: {}}}});
  onTestFinished(() => client.close());
  client.setRequestHandler('elicitation/create', async ({params}) => {
    transcript.push(`  asked: ${params.message.split('\n')[0]}`, '  answer: allow once');
    return {action: 'accept', content: {decision: 'once'}};
  });
  const transport = new StdioClientTransport({
    command: 'forge-tools',
    args: ['mcp'],
    cwd: folder,
    env,
    stderr: 'ignore',
  });
  await client.connect(transport);
  const {tools} = await client.listTools();
  transcript.push('tools/list', `  ${tools.map(({name}) => name).join(' ')}`);
  const call = async (name: string, args: Record<string, unknown>): Promise<void> => {
    transcript.push(`${name} ${JSON.stringify(args)}`);
    const {content, isError} = await client.callTool({name, arguments: args});
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    const shown = text.startsWith('{') ? JSON.parse(text).chunks[0].text : text;
    transcript.push(
      ...`${isError ? 'failed: ' : ''}${shown}`
        .trimEnd()
        .split('\n')
        .map(line => `  ${line}`.trimEnd()),
    );
  };
  await call('web_fetch', {url: `${origin}/`});
  await call('write_file', {path: 'notes.md', content: 'An example for documents.\n'});
  await call('read_file', {path: 'notes.md'});
  await client.close();
  return `${transcript.join('\n')}\n`.replaceAll(new URL(origin).host, '127.0.0.1:8017');
}
