/**
 * Bundles the command line and the worker thread into dist/bin/, and the library into dist/lib/: a start then opens a few files instead of some
 * 240, and of some 75, which is most of what it costs (docs/decisions/0010-bundled-command-line.md). Dynamic
 * imports stay chunks of their own, so that what a command does not need is still not loaded.
 *
 * The modules of the library stay beside it, for bundlers, which take of them what is used.
 *
 * Other packages are taken in, here and in dist/vendor/ for those modules, so that whoever installs this one downloads
 * no more than it (docs/decisions/0015-no-package-beside.md).
 */
import {chmod, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {isBuiltin} from 'node:module';
import {dirname, relative} from 'node:path/posix';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {brotliCompressSync} from 'node:zlib';
import {rolldown} from 'rolldown';
import {minify} from 'rolldown/utils';
import {REQUIRED, VENDORED, VENDORED_PACKAGES} from './vendored.js';

const {dependencies, peerDependencies} = JSON.parse(
  await readFile(new URL('../package.json', import.meta.url), 'utf8'),
);
const root = new URL('../', import.meta.url);
const dist = new URL('dist/', root);
/** Packages whose code is in one of them. */
const BELOW = ['@modelcontextprotocol/core', 'linkify-it', 'mdurl', 'punycode.js', 'tldts-core', 'uc.micro'];
const BUNDLED = [...VENDORED_PACKAGES, ...REQUIRED, ...BELOW];
/** Read at build time: 40 MB installed, of which a PDF needs 2 (docs/decisions/0024-reading-pdf.md). */
const PDF_READER = 'pdfjs-dist';
const characterMapFolder = new URL(`node_modules/${PDF_READER}/cmaps/`, root);
const bin = new URL('dist/bin/', root);
const lib = new URL('dist/lib/', root);

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

/**
 * The protocol package brings a validator of JSON Schema, Ajv, that takes 20 ms to load, and 280 KB. Ours is the tools' own, so
 * nothing asks for it (src/mcp/create-mcp-service.ts).
 */
const withoutAjv = {
  name: 'without-ajv',
  load(id) {
    if (!/[/\\]@modelcontextprotocol[/\\]server[/\\]dist[/\\]ajvProvider-[^/\\]+\.mjs$/.test(id)) return null;
    ajvProviders.push(id);
    return `export class n { constructor() { throw new Error('No JSON Schema is validated by the protocol package.'); } }`;
  },
};
const ajvProviders = [];

/**
 * `htmlToMarkdown` answers at once, so what it needs cannot be imported late. It is required: most programs never call
 * it, and to load it takes 15 ms.
 */
const EXTRACTION = 'web/extract/extract-html.js';
const withLateExtraction = {
  name: 'with-late-extraction',
  resolveId(id, importer) {
    const isPublic = /[/\\]web[/\\]public-api\.js$/.test(importer ?? '');
    return isPublic && id.endsWith('/extract-html.js') ? '\0late-extraction' : null;
  },
  load: id =>
    id === '\0late-extraction'
      ? `import {createRequire} from 'node:module';
        let extraction;
        export function extractHtml(...given) {
          extraction ??= createRequire(import.meta.url)('./extract-html.cjs');
          return extraction.extractHtml(...given);
        }`
      : null,
};

const MAIN = 'cli/main.js';
/**
 * What a start of `mcp` loads one after the other, a chunk each: to open one takes as long as to read a hundred modules.
 * Each has what these modules import, but for what those before it have. What commands load that need no toolbox comes
 * first, or they would load the toolbox with it.
 */
const AT_A_START = {
  core: [
    MAIN,
    'cli/flags.js',
    'cli/session-flags.js',
    'cli/print-result.js',
    'core/text/cut.js',
    'core/text/invisible.js',
    'core/tool-host.js',
    'system/replace-file.js',
  ],
  settings: ['cli/read-settings.js'],
  checks: ['create-toolbox/check-config.js'],
  clients: ['cli/client-settings.js'],
  toolbox: [
    'create-toolbox.js',
    'create-toolbox/services.js',
    'cli/open-toolbox.js',
    'cli/commands/mcp.js',
    'mcp/describe-tool.js',
  ],
  serving: ['mcp/serve-stdio.js', 'mcp/create-mcp-service.js'],
};

/**
 * Chunks that hold nothing of ours. Ours stay as they are, so that a stack trace of ours can be read. Last of all: what
 * is minified earlier is printed anew, with its white space.
 */
const withSmallPackages = {
  name: 'with-small-packages',
  async generateBundle(_, chunks) {
    for (const chunk of Object.values(chunks)) {
      if (chunk.type !== 'chunk') continue;
      const {fileName, moduleIds, code} = chunk;
      const isOfPackages =
        moduleIds.some(isInPackage) && moduleIds.every(id => isInPackage(id) || id.startsWith('\0'));
      if (isOfPackages) chunk.code = (await minify(fileName, code, {module: true})).code;
    }
  },
};
const isInPackage = id => /[/\\]node_modules[/\\]/.test(id);

// Each by itself: what they share would be further files to open.
const output = [
  ...(await bundle('forge-tools', `dist/${MAIN}`, await groupsAtAStart())),
  ...(await bundle('worker', 'dist/web/convert/worker.js')),
  ...(await bundle('pdf-reader', 'dist/web/convert/pdf-reader.js')),
];
await refuseToolbox(output);
await bundleLibrary();
await chmod(new URL('forge-tools.js', bin), 0o755);
for (const place of [bin, lib]) await writeFile(new URL('LICENSES.txt', place), await licences());
await writeFile(new URL('cmaps.br', dist), await characterMaps());
await vendor();
if (ajvProviders.length === 0) {
  throw new Error('The protocol package brings its validator in another way: look at it again.');
}

// The chunks of earlier builds go last, so that a command line that is running does not lose its own.
const current = new Set([...output.map(({fileName}) => fileName), 'LICENSES.txt']);
for (const name of await readdir(bin)) if (!current.has(name)) await rm(new URL(name, bin));

/** What is imported at once is one file: to open one takes as long as to read a hundred modules. */
async function bundleLibrary() {
  await rm(lib, {recursive: true, force: true});
  const open = () =>
    rolldown({
      input: {index: fileURLToPath(new URL('index.js', dist)), mcp: fileURLToPath(new URL('mcp.js', dist))},
      platform: 'node',
      external: isExternal,
      plugins: [withLateExtraction, withoutAjv],
      checks: {ineffectiveDynamicImport: false, bundlerTimings: false},
    });
  const looked = await open();
  const chunkOf = new Map(
    (await looked.generate({format: 'esm'})).output.map(chunk => [chunk.fileName, chunk]),
  );
  await looked.close();
  const loaded = new Set(['index.js']);
  for (const name of loaded) for (const other of chunkOf.get(name)?.imports ?? []) loaded.add(other);
  const atOnce = new Set([...loaded].flatMap(name => chunkOf.get(name)?.moduleIds ?? []));
  const bundled = await open();
  const {output: chunks} = await bundled.write({
    dir: fileURLToPath(lib),
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    comments: {jsdoc: false},
    plugins: [withSmallPackages],
    codeSplitting: {
      groups: [
        {name: 'packages', test: id => atOnce.has(id) && isInPackage(id)},
        {name: 'start', test: id => atOnce.has(id) && id !== fileURLToPath(new URL('index.js', dist))},
      ],
    },
  });
  await bundled.close();
  refuseUndeclared(chunks);
  const extraction = await rolldown({
    input: fileURLToPath(new URL(EXTRACTION, dist)),
    platform: 'node',
    external: isExternal,
  });
  await extraction.write({file: fileURLToPath(new URL('extract-html.cjs', lib)), format: 'cjs'});
  await extraction.close();
}

async function bundle(name, entry, together = []) {
  const bundled = await rolldown({
    input: {[name]: fileURLToPath(new URL(entry, root))},
    platform: 'node',
    external: isExternal,
    plugins: [withoutCanvas, withoutAjv],
    // What is loaded late in the library may be loaded at the start here, where a chunk more costs more than its code.
    checks: {ineffectiveDynamicImport: false, bundlerTimings: false},
  });
  const {output: chunks} = await bundled.write({
    dir: fileURLToPath(bin),
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    // The legal ones are kept; no editor reads the others.
    comments: {jsdoc: false},
    plugins: [withSmallPackages],
    // Small modules that nearly every command needs: to open each of them costs more than to read them all.
    codeSplitting: {
      groups: [...together, {name: 'shared', test: /[/\\]dist[/\\](?:core|system)[/\\]/}],
    },
  });
  await bundled.close();
  refuseUndeclared(chunks);
  return chunks;
}

async function groupsAtAStart() {
  const groups = [];
  for (const [name, entries] of Object.entries(AT_A_START)) {
    const modules = new Set();
    for (const entry of entries) await addImported(new URL(entry, dist), modules);
    // It waits for the command, and the chunks that a command loads would wait for it.
    modules.delete(fileURLToPath(new URL(MAIN, dist)));
    groups.push({name, test: id => modules.has(id)});
  }
  return groups;
}

/** No command loads the toolbox that does not import it: what it shares with it has to be in a chunk before. */
async function refuseToolbox(chunks) {
  const [toolbox] = AT_A_START.toolbox.map(name => fileURLToPath(new URL(name, dist)));
  const chunkOf = new Map(chunks.map(chunk => [chunk.fileName, chunk]));
  for (const {facadeModuleId, fileName} of chunks) {
    if (!/[/\\]cli[/\\]commands[/\\][^/\\]+$/.test(facadeModuleId ?? '')) continue;
    const modules = new Set();
    await addImported(pathToFileURL(facadeModuleId), modules);
    if (modules.has(toolbox)) continue;
    const loaded = new Set([fileName]);
    for (const name of loaded) for (const other of chunkOf.get(name)?.imports ?? []) loaded.add(other);
    const [wrong] = [...loaded].filter(name => name.startsWith('toolbox-'));
    if (wrong !== undefined) throw new Error(`${fileName} would load ${wrong}: see AT_A_START.`);
  }
}

/** The module and our modules that it imports, with theirs; not what it loads when it is needed. */
async function addImported(module, modules) {
  const path = fileURLToPath(module);
  if (modules.has(path)) return;
  modules.add(path);
  const code = await readFile(path, 'utf8');
  for (const [, id] of code.matchAll(/^(?:import|export)\b[^'";()]*?['"](\.[^'"]+)['"]/gm)) {
    await addImported(new URL(id, module), modules);
  }
}

/** The library stays a file a module; what it imports of other packages is beside it. */
async function vendor() {
  const place = new URL('vendor/', dist);
  await rm(place, {recursive: true, force: true});
  const names = Object.fromEntries(VENDORED.map(name => [fileOf(name), name]));
  const bundled = await rolldown({
    input: names,
    platform: 'node',
    external: isExternal,
    plugins: [withoutAjv],
  });
  const {output: chunks} = await bundled.write({
    dir: fileURLToPath(place),
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    minify: true,
  });
  await bundled.close();
  refuseUndeclared(chunks);
  for (const name of REQUIRED) {
    const required = await rolldown({input: name, platform: 'node'});
    await required.write({file: fileURLToPath(new URL(`${name}.cjs`, place)), format: 'cjs', minify: true});
    await required.close();
  }
  const library = await readdir(dist, {recursive: true});
  const modules = library.filter(name => name.endsWith('.js') && !/^(?:bin|lib|vendor)\//.test(name));
  await Promise.all(modules.map(pointToVendor));
  await keepTypes(library.filter(name => name.endsWith('.d.ts')));
}

function fileOf(name) {
  return name.replace(/^@/, '').replace(/\.js$/, '').replaceAll('/', '-');
}

function packageOf(id) {
  return id.split('/', id.startsWith('@') ? 2 : 1).join('/');
}

async function pointToVendor(name) {
  const code = await readFile(new URL(name, dist), 'utf8');
  const pointed = code.replace(
    /(\b(?:from|import)\s*\(?\s*)(['"])([@a-z][^'"]*)\2/g,
    (whole, before, quote, id) => {
      if (!VENDORED.includes(id)) return whole;
      const path = relative(dirname(name), `vendor/${fileOf(id)}.js`);
      return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`;
    },
  );
  for (const [, id] of pointed.matchAll(/^(?:import|export)\b[^'";]*\bfrom\s*['"]([^'".][^'"]*)['"]/gm)) {
    if (!isBuiltin(id) && !(id in dependencies)) {
      throw new Error(`dist/${name} imports ${id}, which is neither depended on nor taken in.`);
    }
  }
  if (pointed !== code) await writeFile(new URL(name, dist), pointed);
}

/** Of the types only those that a caller can reach; none of them is of another package. */
async function keepTypes(all) {
  const kept = new Set();
  const keep = async name => {
    if (kept.has(name)) return;
    kept.add(name);
    const code = await readFile(new URL(name, dist), 'utf8');
    for (const [, id] of code.matchAll(/(?:\bfrom|\bimport\s*\()\s*['"]([^'"]+)['"]/g)) {
      if (isBuiltin(id)) continue;
      if (!id.startsWith('.'))
        throw new Error(`dist/${name} has types of ${id}, which is not installed with us.`);
      await keep(relative('.', `${dirname(name)}/${id.replace(/\.[jt]s$/, '.d.ts')}`));
    }
  };
  for (const entry of ['index.d.ts', 'mcp.d.ts']) await keep(entry);
  await Promise.all(all.filter(name => !kept.has(name)).map(name => rm(new URL(name, dist))));
}

function isExternal(id) {
  const isPath = id.startsWith('.') || id.startsWith('/');
  return !isPath && ![...BUNDLED, PDF_READER].some(name => id === name || id.startsWith(`${name}/`));
}

/** A helper that the bundler leaves outside is on no machine but this one. */
function refuseUndeclared(chunks) {
  const declared = new Set(Object.keys({...dependencies, ...peerDependencies}));
  for (const {fileName, imports = [], dynamicImports = []} of chunks) {
    for (const id of [...imports, ...dynamicImports]) {
      const isOurs = chunks.some(chunk => chunk.fileName === id) || isBuiltin(id);
      if (!isOurs && !declared.has(packageOf(id))) {
        throw new Error(`${fileName} imports ${id}, which package.json does not depend on.`);
      }
    }
  }
}

/**
 * What turns the codes of East Asian fonts into characters: 168 files of a package, which are one here, a third of
 * the size (src/web/extract/pdf/extract-pdf.ts reads it).
 */
async function characterMaps() {
  const places = {};
  const maps = [];
  let start = 0;
  for (const name of (await readdir(characterMapFolder)).filter(file => file.endsWith('.bcmap')).sort()) {
    const map = await readFile(new URL(name, characterMapFolder));
    places[name] = {start, length: map.length};
    maps.push(map);
    start += map.length;
  }
  return brotliCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(places)}\n`), ...maps]));
}

async function licences() {
  const texts = [...BUNDLED, PDF_READER].map(async name => {
    const folder = new URL(`node_modules/${name}/`, root);
    const file = (await readdir(folder)).find(entry => /^licen[cs]e(?:[-.]\w+)*$/i.test(entry));
    if (file === undefined) throw new Error(`${name} comes without its licence.`);
    const text = await readFile(new URL(file, folder), 'utf8');
    return `The files in this folder contain code of ${name}:\n\n${text.trim()}\n`;
  });
  const ofMaps = await readFile(new URL('LICENSE', characterMapFolder), 'utf8');
  texts.push(
    `dist/cmaps.br holds the character maps of Adobe that come with ${PDF_READER}:\n\n${ofMaps.trim()}\n`,
  );
  return (await Promise.all(texts)).join('\n\n');
}
