/**
 * Bundles the command line and the worker thread into dist/bin/: a start then opens a few files instead of some
 * 240, and of some 75, which is most of what it costs (docs/decisions/0010-bundled-command-line.md). Dynamic
 * imports stay chunks of their own, so that what a command does not need is still not loaded.
 *
 * Of other packages only those are taken in that every start loads, in dozens of small modules.
 */
import {chmod, cp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {isBuiltin} from 'node:module';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';

const {dependencies} = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
const root = new URL('../', import.meta.url);
const BUNDLED = ['zod', '@modelcontextprotocol/server', '@modelcontextprotocol/core', 'smol-toml'];
/** Read at build time: 40 MB installed, of which a PDF needs 2 (docs/decisions/0015-reading-pdf.md). */
const PDF_READER = 'pdfjs-dist';
const bin = new URL('dist/bin/', root);

/** Text needs no canvas, and a native program that somebody installed is not run on a stranger's document. */
const withoutCanvas = {
  name: 'without-canvas',
  transform(code, id) {
    if (!id.endsWith('/pdfjs-dist/legacy/build/pdf.mjs')) return null;
    const loading = 'require("@napi-rs/canvas")';
    if (!code.includes(loading)) throw new Error(`${id} loads its canvas in another way: look at it again.`);
    return code.replaceAll(loading, 'undefined');
  },
};

// Each by itself: what they share would be further files to open.
const output = [
  ...(await bundle('forge-tools', 'dist/cli/main.js')),
  ...(await bundle('worker', 'dist/web/convert/worker.js')),
];
await chmod(new URL('forge-tools.js', bin), 0o755);
await writeFile(new URL('LICENSES.txt', bin), await licences());
// What turns the codes of East Asian fonts into characters.
await cp(new URL(`node_modules/${PDF_READER}/cmaps/`, root), new URL('dist/cmaps/', root), {recursive: true});

// The chunks of earlier builds go last, so that a command line that is running does not lose its own.
const current = new Set([...output.map(({fileName}) => fileName), 'LICENSES.txt']);
for (const name of await readdir(bin)) if (!current.has(name)) await rm(new URL(name, bin));

async function bundle(name, entry) {
  const bundled = await rolldown({
    input: {[name]: fileURLToPath(new URL(entry, root))},
    platform: 'node',
    external: isExternal,
    plugins: [withoutCanvas],
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
  return !isPath && ![...BUNDLED, PDF_READER].some(name => id === name || id.startsWith(`${name}/`));
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
  const texts = [...BUNDLED, PDF_READER].map(async name => {
    const text = await readFile(new URL(`node_modules/${name}/LICENSE`, root), 'utf8');
    return `The files in this folder contain code of ${name}:\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join('\n\n');
}
