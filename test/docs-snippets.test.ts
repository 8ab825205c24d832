import {execFileSync} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, onTestFinished, test} from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('policy: every TypeScript snippet of the documentation compiles', () => {
  const directory = join(ROOT, 'node_modules', '.snippets');
  mkdirSync(directory, {recursive: true});
  onTestFinished(() => rmSync(directory, {recursive: true, force: true}));
  const pages = [
    'README.md',
    ...readdirSync(join(ROOT, 'docs'), {recursive: true, encoding: 'utf8'})
      .filter(name => name.endsWith('.md'))
      .map(name => join('docs', name)),
  ];
  let count = 0;
  for (const page of pages) {
    for (const [, code = ''] of readFileSync(join(ROOT, page), 'utf8').matchAll(
      /^```ts\n([\s\S]*?)^```$/gm,
    )) {
      count += 1;
      writeFileSync(join(directory, `${page.replace(/\W/g, '-')}-${count}.ts`), `${code}\nexport {};\n`);
    }
  }
  expect(count).toBeGreaterThan(0);
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: {
        noEmit: true,
        noUnusedLocals: false,
        lib: ['es2023', 'es2024.string', 'dom'],
        types: ['node'],
        typeRoots: ['../@types'],
        paths: {'forge-tools': ['../../src/index.ts'], 'forge-tools/mcp': ['../../src/mcp.ts']},
      },
      include: ['*.ts'],
    }),
  );
  const run = (): string =>
    execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', directory], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
  try {
    expect(run()).toBe('');
  } catch (error) {
    throw new Error(String((error as {stdout?: string}).stdout ?? error));
  }
}, 60_000);
