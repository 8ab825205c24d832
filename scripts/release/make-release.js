// `npm run release [-- FOLDER] [--tarball FILE]`: everything that a release needs, in one folder. Publishes nothing.
// Needs dist/. It packs, where it is not given a tarball that was packed before.
import {copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {basename, dirname, join, relative, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {bundleManifest, pluginFiles, serverJson} from './manifests.js';
import {pack, unpackPackage} from './unpack-package.js';
import {zip} from './zip.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const {values, positionals} = parseArgs({options: {tarball: {type: 'string'}}, allowPositionals: true});
const folder = resolve(positionals[0] ?? join(ROOT, 'release'));
const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

await mkdir(folder, {recursive: true});
const tarball = join(folder, `${manifest.name}-${manifest.version}.tgz`);
if (values.tarball === undefined) await pack(folder);
else await copyFile(values.tarball, tarball);
const bundle = join(folder, `${manifest.name}-${manifest.version}-${process.platform}-${process.arch}.mcpb`);
await writeFile(bundle, await makeBundle());
await writeJson('server.json', serverJson(manifest));
for (const [name, content] of Object.entries(pluginFiles(manifest)))
  await writeJson(`claude-plugin/${name}`, content);
await mkdir(join(folder, 'image'), {recursive: true});
await copyFile(join(ROOT, 'packaging/Dockerfile'), join(folder, 'image/Dockerfile'));
await copyFile(tarball, join(folder, 'image/forge-tools.tgz'));
await writeFile(join(folder, 'CHECKLIST.md'), checklist());
for (const name of await filesBelow(folder)) {
  const {size} = await stat(join(folder, name));
  process.stdout.write(`${String(size).padStart(10)}  ${name}\n`);
}

async function makeBundle() {
  const place = await mkdtemp(join(tmpdir(), 'forge-release-'));
  try {
    await unpackPackage(tarball, join(place, 'server/node_modules'));
    const names = await filesBelow(place);
    const entries = await Promise.all(
      names.map(async name => ({
        name: name.replaceAll('\\', '/'),
        bytes: await readFile(join(place, name)),
        executable: ((await stat(join(place, name))).mode & 0o100) !== 0,
      })),
    );
    const head = Buffer.from(`${JSON.stringify(bundleManifest(manifest, process.platform), null, 2)}\n`);
    return zip([{name: 'manifest.json', bytes: head, executable: false}, ...entries]);
  } finally {
    await rm(place, {recursive: true, force: true});
  }
}

async function filesBelow(place) {
  const entries = await readdir(place, {recursive: true, withFileTypes: true});
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(place, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

async function writeJson(name, content) {
  const file = join(folder, name);
  await mkdir(dirname(file), {recursive: true});
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
}

function checklist() {
  const {name, version, mcpName, repository} = manifest;
  return `# Release of ${name} ${version}

Nothing here is published yet. In this order:

- [ ] \`.ci/run\` is green on the commit, and \`npm run docs\` changes nothing.
- [ ] CHANGELOG.md has the version and its date; package.json has the version.
- [ ] ${repository === undefined ? 'package.json has no address of the project' : `The project lives at ${repository.url}`}. \`node scripts/release/set-repository.js https://HOST/OWNER/NAME\` sets
      \`repository\`, \`homepage\` and \`bugs\`; then run this again.
- [ ] \`${mcpName}\` is a name of whoever publishes; else change \`mcpName\` in package.json and run this again.
- [ ] Tag the commit: \`git tag v${version}\`.
- [ ] npm: \`npm publish ${basename(tarball)} --provenance --access public\`.
- [ ] From an empty folder: \`npx -y ${name}@${version} demo\`, on Linux, macOS and Windows.
- [ ] MCP registry: \`mcp-publisher publish\` beside server.json. It compares its name with \`mcpName\` of the package on npm.
- [ ] Desktop bundle, one a platform: run \`npm run release\` on each, open \`${basename(bundle)}\` in Claude Desktop, attach it
      to the release.
- [ ] Image: \`docker build -t ${name}:${version} image\`, then \`docker run -i --init --rm -v "$PWD:/workspace" ${name}:${version}\`.
- [ ] Claude Code plugin: \`claude plugin validate claude-plugin\`, then add the folder to a marketplace.
- [ ] README.md: what is marked as "once the package is in the registry" is true now.
`;
}
