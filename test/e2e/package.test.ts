import {execFileSync} from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {isBuiltin} from 'node:module';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** A directory in which `forge-tools` is installed. */
function consumer(): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(ROOT, join(directory, 'node_modules/forge-tools'));
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

  test('policy: every entry names files that are there, types first, and what is packed', () => {
    const entries = Object.entries<Record<string, string> | string>(MANIFEST.exports);
    for (const [name, entry] of entries) {
      if (name.includes('*')) continue;
      const targets = typeof entry === 'string' ? [entry] : Object.values(entry);
      for (const target of targets) expect(existsSync(join(ROOT, target)), target).toBe(true);
      if (typeof entry !== 'string') expect(Object.keys(entry)).toEqual(['types', 'default']);
    }
    expect(MANIFEST.exports['.']).toEqual({types: MANIFEST.types, default: MANIFEST.main});
    for (const part of MANIFEST.files.filter((name: string) => !name.startsWith('!'))) {
      expect(existsSync(join(ROOT, part)), part).toBe(true);
    }
  });

  test('policy: the program can be started', () => {
    const program = join(ROOT, MANIFEST.bin['forge-tools']);
    expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(statSync(program).mode & 0o111).toBe(0o111);
  });

  test('policy: types need no package that is not installed with it', () => {
    const directory = consumer();
    const code = `import {createToolbox, type Toolbox} from 'forge-tools';\nimport {createMcpService} from 'forge-tools/mcp';\nconst toolbox: Toolbox = createToolbox({config: {profile: 'guarded'}});\ncreateMcpService(toolbox, {version: '1'});\n`;
    writeFileSync(join(directory, 'a.ts'), code);
    symlinkSync(join(ROOT, 'node_modules/@types'), join(directory, 'node_modules/@types'));
    const flags = [
      '--noEmit',
      '--strict',
      '--target',
      'es2023',
      '--types',
      'node',
      '--skipLibCheck',
      'false',
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
    const names = readdirSync(join(ROOT, 'dist'), {recursive: true, encoding: 'utf8'});
    const asked = new Set<string>();
    for (const name of names.filter(file => /\.(?:js|d\.ts)$/.test(file) && !file.startsWith('cli/'))) {
      const code = readFileSync(join(ROOT, 'dist', name), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
      for (const [, id = ''] of code.matchAll(
        /^(?:import|export|\})[^'";]*\bfrom\s*['"]([^'".][^'"]*)['"]/gm,
      )) {
        if (!isBuiltin(id)) asked.add(id);
      }
    }
    expect([...asked].filter(id => id !== '@vscode/ripgrep')).toEqual([]);
    const licences = readFileSync(join(ROOT, 'dist/bin/LICENSES.txt'), 'utf8');
    for (const name of ['zod', 'parse5', 'entities', 'tldts', '@exodus/bytes', 'smol-toml']) {
      expect(licences).toContain(`code of ${name}:`);
    }
  });
});
