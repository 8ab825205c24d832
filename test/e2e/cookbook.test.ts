import {execFile} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {describe, expect, onTestFinished, test} from 'vitest';
import {cliConfig} from '../support/cli-config.ts';
import {startHttpServer} from '../support/http-server.ts';
import {needs} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COOKBOOK = join(ROOT, 'examples/cookbook');
const run = promisify(execFile);

interface Cooked {
  readonly stdout: string;
  readonly directory: string;
}

/** Runs a recipe as its page says, with a configuration that lets it reach the test's server. */
async function cook(recipe: string, args: readonly string[], more = ''): Promise<Cooked> {
  const {env, flags, cwd} = cliConfig(more);
  const program = recipe.endsWith('.py') ? 'python3' : process.execPath;
  const {stdout} = await run(program, [join(COOKBOOK, recipe), ...args, ...flags], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PYTHONDONTWRITEBYTECODE: '1',
      FORGE_TOOLS: `'${process.execPath}' '${join(ROOT, 'dist/bin/forge-tools.js')}'`,
      ...env,
    },
  });
  return {stdout, directory: cwd};
}

async function serve(pages: Readonly<Record<string, string>>): Promise<{origin: string; reachable: string}> {
  const server = await startHttpServer(
    Object.fromEntries(
      Object.entries(pages).map(([path, html]) => [
        path,
        (_, response) => response.writeHead(200, {'Content-Type': 'text/html'}).end(html),
      ]),
    ),
  );
  onTestFinished(() => server.close());
  const {port} = new URL(server.origin);
  return {
    origin: server.origin,
    reachable: `[tools.webfetch.security]\nallow_insecure_overrides = true\nblock_loopback = false\nallowed_ports = [${port}]\n`,
  };
}

describe('docs/cookbook.md', () => {
  test('policy: has every recipe, and names no other', () => {
    const page = readFileSync(join(ROOT, 'docs/cookbook.md'), 'utf8');
    const named = [...page.matchAll(/\(\.\.\/examples\/cookbook\/([\w.-]+)\)/g)].map(([, name]) => name);
    const there = readdirSync(COOKBOOK).filter(name => !name.startsWith('__'));
    expect(named.sort()).toEqual(there.sort());
    expect(there.length).toBeGreaterThanOrEqual(5);
  });

  test('context_from_page.py: what a question is about, within the budget', needs('Python'), async () => {
    const filler = 'Weather and other matters of no interest. '.repeat(40);
    const {origin, reachable} = await serve({
      '/page': `<main><h1>Guide</h1><p>${filler}</p><h2>Bees</h2><p>Bees drink up to a litre of water a day.</p><h2>Rest</h2><p>${filler}</p></main>`,
    });
    const args = ['90', `${origin}/page`, 'How much water do bees drink?'];
    const {stdout} = await cook('context_from_page.py', args, reachable);
    expect(stdout).toContain('a litre of water');
    const [, tokens] = /\((\d+) tokens\)/.exec(stdout) ?? [];
    expect(Number(tokens)).toBeGreaterThan(0);
    expect(Number(tokens)).toBeLessThanOrEqual(90);
  });

  test(
    'proven_quote.py: a sentence of the page, where it stands and the link to it',
    needs('Python'),
    async () => {
      const filler = 'Weather and other matters of no interest. '.repeat(40);
      const {origin, reachable} = await serve({
        '/page': `<main><h1>Guide</h1><p>${filler}</p><h2>Bees</h2><p>Bees fly. Bees drink a <a href="/l">litre</a> of water a day.</p></main>`,
      });
      const args = [`${origin}/page`, 'How much water do bees drink?'];
      const {stdout} = await cook('proven_quote.py', args, reachable);
      expect(stdout.split('\n').slice(0, 3)).toEqual([
        'Bees drink a litre of water a day.',
        '  same, section "Bees"',
        `  ${origin}/page#:~:text=Bees%20drink%20a%20litre%20of%20water%20a%20day.`,
      ]);
    },
  );

  test(
    'corpus.py: pages, tokens and failures by code, and a second call fetches nothing anew',
    needs('Python'),
    async () => {
      const {origin, reachable} = await serve({'/a': '<h1>A</h1><p>One.</p>', '/b': '<h1>B</h1><p>Two.</p>'});
      const place = temporaryDirectory();
      writeFileSync(join(place, 'urls.txt'), `${origin}/a\n${origin}/b\nhttp://10.0.0.1/\n`);
      const args = [join(place, 'urls.txt'), join(place, 'out')];
      const {stdout} = await cook('corpus.py', args, reachable);
      expect(stdout).toMatch(/^2 pages, \d+ tokens\n1 failed: \w+\n$/);
      const manifest = (): number =>
        readFileSync(join(place, 'out/manifest.jsonl'), 'utf8').split('\n').length;
      const lines = manifest();
      expect((await cook('corpus.py', args, reachable)).stdout).toBe(stdout);
      expect(manifest() - lines).toBeLessThanOrEqual(1);
    },
  );

  test('edit-with-rules.js: writes what the rules allow, and says who refused the rest', async () => {
    const project = temporaryDirectory();
    const {stdout} = await cook('edit-with-rules.js', [project]);
    expect(stdout.split('\n').filter(line => line.startsWith('  '))).toEqual([
      '  success',
      expect.stringContaining('asked: write_file src/index.js'),
      expect.stringContaining('only the documentation today'),
      expect.stringContaining('refused by tools.approval.rules[1]: It is not ours to change.'),
    ]);
    expect(readdirSync(project)).toEqual(['docs']);
  });

  test('mcp-client.js: shows the diff that it allows', async () => {
    const project = temporaryDirectory();
    const {stdout} = await cook('mcp-client.js', [project]);
    expect(stdout).toMatch(/^\d+ tools: web_fetch/m);
    expect(stdout).toContain('  | +Hello');
    expect(readFileSync(join(project, 'hello.txt'), 'utf8')).toBe('Hello\n');
  });

  test(
    'grade.py: tests fail before a patch and pass after it, in a copy',
    needs('Python', 'bubblewrap'),
    async () => {
      const place = temporaryDirectory();
      const project = join(place, 'project');
      mkdirSync(project);
      writeFileSync(join(project, 'answer'), '41\n');
      writeFileSync(join(place, 'fix.diff'), '--- a/answer\n+++ b/answer\n@@ -1 +1 @@\n-41\n+42\n');
      const args = [project, join(place, 'fix.diff'), 'grep -q 42 answer'];
      const {stdout} = await cook('grade.py', args, '[tools.run]\nsandbox = "bubblewrap"\n');
      expect(JSON.parse(stdout)).toEqual({
        before: 1,
        after: 0,
        mended: true,
        errors: [],
        log: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(readFileSync(join(project, 'answer'), 'utf8')).toBe('41\n');
    },
  );
});
