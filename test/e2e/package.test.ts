import {execFileSync} from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {isBuiltin} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';
import {beforeAll, describe, expect, test} from 'vitest';
import {unpackPackage} from '../../scripts/release/unpack-package.js';
import {packedPackage} from '../support/packed-package.ts';
import {linksOf} from '../support/read-commonmark.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let PACKAGE = '';
let MANIFEST: {
  readonly main: string;
  readonly types: string;
  readonly bin: {readonly 'forge-tools': string};
  readonly exports: {readonly [name: string]: Readonly<Record<string, string>> | string};
  readonly dependencies: object;
};
/** The names of the files in the tarball, without the directories. */
let packed: readonly string[] = [];

beforeAll(async () => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'forge-package-')));
  PACKAGE = await unpackPackage(await packedPackage(), join(place, 'node_modules'));
  MANIFEST = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  packed = readdirSync(PACKAGE, {recursive: true, encoding: 'utf8'})
    .filter(name => statSync(join(PACKAGE, name)).isFile())
    .map(name => name.replaceAll('\\', '/'));
  return () => rmSync(place, {recursive: true, force: true});
}, 120_000);

/** A directory in which `forge-tools` is installed. */
function consumer(): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(PACKAGE, join(directory, 'node_modules/forge-tools'));
  return directory;
}

function node(directory: string, file: string, code: string): string {
  writeFileSync(join(directory, file), code);
  return execFileSync(process.execPath, [join(directory, file)], {encoding: 'utf8', cwd: directory});
}

async function bundled(directory: string, code: string, format: 'esm' | 'cjs') {
  writeFileSync(join(directory, 'entry.js'), code);
  const bundle = await rolldown({
    input: join(directory, 'entry.js'),
    platform: 'node',
    logLevel: 'silent',
    external: id => id === '@vscode/ripgrep',
  });
  const made = await bundle.generate({format});
  await bundle.close();
  return made;
}

/** The relative links and pictures of the packed pages, as names in the package. */
function linksInPages(): readonly {readonly page: string; readonly target: string}[] {
  return packed
    .filter(name => name.endsWith('.md'))
    .flatMap(page =>
      linksOf(readFileSync(join(PACKAGE, page), 'utf8'))
        .filter(link => !/^(?:[a-z]+:|#)/.test(link))
        .map(link => ({page, target: join(dirname(page), decodeURIComponent(link.split('#')[0] ?? ''))})),
    );
}

const USE = 'console.log(typeof createToolbox, typeof createMcpService, countTokens("hello world"))';

describe('the package', () => {
  test('policy: is imported, with what the documentation imports', () => {
    const code = `import {countTokens, createToolbox} from 'forge-tools';\nimport {createMcpService} from 'forge-tools/mcp';\n${USE}`;
    expect(node(consumer(), 'a.mjs', code)).toBe('function function 2\n');
  });

  test('policy: is required from CommonJS', () => {
    const code = `const {countTokens, createToolbox} = require('forge-tools');\nconst {createMcpService} = require('forge-tools/mcp');\n${USE}`;
    expect(node(consumer(), 'a.cjs', code)).toBe('function function 2\n');
  });

  test('policy: an import loads few files, and no extraction', () => {
    const code = `import {register} from 'node:module';
      const loader = 'export const load = (url, context, next) => { if (url.startsWith("file:")) console.log(url); return next(url, context); }';
      register('data:text/javascript,' + encodeURIComponent(loader));
      await import('forge-tools');`;
    const files = node(consumer(), 'a.mjs', code).trim().split('\n');
    const loaded = files.map(url => readFileSync(new URL(url), 'utf8'));
    expect(files.length).toBeLessThanOrEqual(5);
    expect(loaded.join('').length).toBeLessThan(850_000);
    expect(files.join()).not.toContain('extract');
    expect(files.join()).not.toContain('web-context');
  });

  test('policy: HTML is converted by the library that is one file', () => {
    const code = `import {htmlToMarkdown} from 'forge-tools';\nconsole.log(htmlToMarkdown('<h1>A</h1>', 'https://e.com/'))`;
    expect(node(consumer(), 'a.mjs', code)).toBe('# A\n\n');
  });

  test('policy: every entry names files that are there, types first, and what is packed', () => {
    for (const [name, entry] of Object.entries(MANIFEST.exports)) {
      if (name.includes('*')) continue;
      const targets = typeof entry === 'string' ? [entry] : Object.values(entry);
      for (const target of targets) expect(packed).toContain(target.replace('./', ''));
      if (typeof entry !== 'string') expect(Object.keys(entry)).toEqual(['types', 'module', 'default']);
    }
    expect(MANIFEST.exports['.']).toEqual({
      types: MANIFEST.types,
      // Bundlers take of the modules what is used.
      module: './dist/index.js',
      default: MANIFEST.main,
    });
  });

  test('policy: nothing else is packed than what a user runs, reads or imports', () => {
    const kinds = new Set(packed.map(name => name.replace(/\/.*?(?=(?:\.d)?\.\w+$)/, '/*')));
    expect([...kinds].sort()).toEqual([
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'assets/*.css',
      'assets/*.js',
      'assets/*.json',
      'demo/*.html',
      'demo/*.js',
      'demo/*.md',
      'demo/*.sh',
      'demo/*.txt',
      'dist/*.br',
      'dist/*.cjs',
      'dist/*.d.ts',
      'dist/*.js',
      'dist/*.txt',
      'docs/*.md',
      'docs/*.png',
      'docs/*.svg',
      'examples/*.cfg',
      'examples/*.js',
      'examples/*.json',
      'examples/*.py',
      'examples/*.toml',
      'examples/*.ts',
      'examples/*.yaml',
      'package.json',
      'schemas/*.json',
      'vocabulary/*.bin',
    ]);
    const shown = new Set(linksInPages().map(({target}) => target));
    expect(packed.filter(name => name.startsWith('docs/pictures/') && !shown.has(name))).toEqual([]);
    expect(packed.filter(name => name.startsWith('dist/') && name.includes('.test.'))).toEqual([]);
  });

  test('policy: every link of a packed page leads to something packed', () => {
    const links = linksInPages();
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter(({target}) => !existsSync(join(PACKAGE, target)))).toEqual([]);
  });

  test('policy: what Python leaves in the checkout is not packed', () => {
    const place = temporaryDirectory();
    const left = [
      'examples/__pycache__/forge_tools.cpython-311.pyc',
      'examples/cookbook/__pycache__/grade.cpython-311.pyc',
    ];
    for (const name of [...left, 'docs/page.md']) {
      mkdirSync(dirname(join(place, name)), {recursive: true});
      writeFileSync(join(place, name), 'left');
    }
    copyFileSync(join(ROOT, 'package.json'), join(place, 'package.json'));
    const argv = ['pack', '--dry-run', '--ignore-scripts', '--json'];
    const [listed] = JSON.parse(execFileSync('npm', argv, {encoding: 'utf8', cwd: place}));
    expect(listed.files.map(({path}: {path: string}) => path)).toEqual(['docs/page.md', 'package.json']);
  });

  test('policy: npm pack and npm publish build first', () => {
    const {scripts} = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
    expect(scripts.prepack).toBe('npm run build');
  });

  test('policy: the program can be started', () => {
    const program = join(PACKAGE, MANIFEST.bin['forge-tools']);
    expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(statSync(program).mode & 0o111).toBe(0o111);
  });

  test('policy: types need no package that is not installed with it', () => {
    const directory = consumer();
    const code = `import {createToolbox, type Toolbox} from 'forge-tools';\nimport {createMcpService} from 'forge-tools/mcp';\nconst toolbox: Toolbox = createToolbox({config: {profile: 'guarded'}});\ncreateMcpService(toolbox, {version: '1'});\n`;
    writeFileSync(join(directory, 'a.ts'), code);
    symlinkSync(join(ROOT, 'node_modules/@types'), join(directory, 'node_modules/@types'));
    // biome-ignore format: a list
    const flags = [
      '--noEmit', '--strict', '--target', 'es2023', '--types', 'node', '--skipLibCheck', 'false',
    ];
    const argv = [...flags, '--module', 'nodenext', '--moduleResolution', 'nodenext', 'a.ts'];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    expect(execFileSync(process.execPath, [tsc, ...argv], {encoding: 'utf8', cwd: directory})).toBe('');
  }, 180_000);

  test('policy: a bundler takes of it what is used, and nothing for an import of nothing', async () => {
    const directory = consumer();
    const sizeOf = async (code: string): Promise<number> => {
      const {output} = await bundled(directory, code, 'esm');
      return output.reduce((sum, part) => sum + ('code' in part ? part.code.length : 0), 0);
    };
    expect(await sizeOf("import 'forge-tools';")).toBeLessThan(100);
    expect(
      await sizeOf("import {canonicalizeUrl} from 'forge-tools'; console.log(canonicalizeUrl('a'));"),
    ).toBeLessThan(27_000);
  });

  test.each(['esm', 'cjs'] as const)(
    'policy: a bundle (%s) finds the vocabulary, where its code was moved',
    async format => {
      const directory = consumer();
      const code =
        'import {countTokens, createToolbox} from "forge-tools"; console.log(countTokens("hello world"), typeof createToolbox);';
      const {output} = await bundled(directory, code, format);
      const out = join(directory, 'deep/er/out');
      mkdirSync(out, {recursive: true});
      for (const part of output) if ('code' in part) writeFileSync(join(out, part.fileName), part.code);
      writeFileSync(
        join(out, 'package.json'),
        JSON.stringify({type: format === 'esm' ? 'module' : 'commonjs'}),
      );
      expect(execFileSync(process.execPath, ['entry.js'], {encoding: 'utf8', cwd: out})).toBe('2 function\n');
    },
  );

  test('policy: what the build takes in is no package to install, in code and in types', () => {
    expect(Object.keys(MANIFEST.dependencies)).toEqual(['@vscode/ripgrep']);
    const asked = new Set<string>();
    for (const name of packed.filter(file => /^dist\/.*\.(?:js|d\.ts)$/.test(file))) {
      const code = readFileSync(join(PACKAGE, name), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
      for (const [, id = ''] of code.matchAll(
        /^(?:import|export|\})[^'";]*\bfrom\s*['"]([^'".][^'"]*)['"]/gm,
      )) {
        if (!isBuiltin(id)) asked.add(id);
      }
    }
    expect([...asked].filter(id => id !== '@vscode/ripgrep')).toEqual([]);
    const licences = readFileSync(join(PACKAGE, 'dist/bin/LICENSES.txt'), 'utf8');
    for (const name of ['zod', 'parse5', 'entities', 'tldts', '@exodus/bytes', 'smol-toml']) {
      expect(licences).toContain(`code of ${name}:`);
    }
  });
});
