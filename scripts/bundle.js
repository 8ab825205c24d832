/**
 * Bundles the command line and the worker thread into dist/bin/: a start then opens a few files instead of some
 * 240, and of some 75, which is most of what it costs (docs/decisions/0010-bundled-command-line.md). Dynamic
 * imports stay chunks of their own, so that what a command does not need is still not loaded.
 *
 * Of other packages only those are taken in that every start loads, in dozens of small modules.
 */
import {chmod, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {isBuiltin} from 'node:module';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';

const {dependencies} = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
const root = new URL('../', import.meta.url);
const BUNDLED = [
  '@exodus/bytes',
  'zod',
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/core',
  'smol-toml',
];
const bin = new URL('dist/bin/', root);

// Each by itself: what they share would be further files to open.
const output = [
  ...(await bundle('forge-tools', 'dist/cli/main.js')),
  ...(await bundle('worker', 'dist/web/convert/worker.js')),
];
await chmod(new URL('forge-tools.js', bin), 0o755);
await writeFile(new URL('LICENSES.txt', bin), await licences());

// The chunks of earlier builds go last, so that a command line that is running does not lose its own.
const current = new Set([...output.map(({fileName}) => fileName), 'LICENSES.txt']);
for (const name of await readdir(bin)) if (!current.has(name)) await rm(new URL(name, bin));

async function bundle(name, entry) {
  const bundled = await rolldown({
    input: {[name]: fileURLToPath(new URL(entry, root))},
    platform: 'node',
    external: isExternal,
  });
  const {output: chunks} = await bundled.write({
    dir: fileURLToPath(bin),
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundled.close();
  refuseUndeclared(chunks);
  return chunks;
}

function isExternal(id) {
  const isPath = id.startsWith('.') || id.startsWith('/');
  return !isPath && !BUNDLED.some(name => id === name || id.startsWith(`${name}/`));
}

/** A helper that the bundler leaves outside is on no machine but this one. */
function refuseUndeclared(chunks) {
  const declared = new Set(Object.keys(dependencies));
  for (const {fileName, imports = [], dynamicImports = []} of chunks) {
    for (const id of [...imports, ...dynamicImports]) {
      const isOurs = chunks.some(chunk => chunk.fileName === id) || isBuiltin(id);
      const name = id.split('/', id.startsWith('@') ? 2 : 1).join('/');
      if (!isOurs && !declared.has(name)) {
        throw new Error(`${fileName} imports ${id}, which package.json does not depend on.`);
      }
    }
  }
}

async function licences() {
  const texts = BUNDLED.map(async name => {
    const text = await readFile(new URL(`node_modules/${name}/LICENSE`, root), 'utf8');
    return `The files in this folder contain code of ${name}:\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join('\n\n');
}
