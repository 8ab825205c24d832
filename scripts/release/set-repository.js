// `node scripts/release/set-repository.js https://HOST/OWNER/NAME`: package.json gets the three addresses of the project. The
// manifests of a release take them from there.
import {readFile, writeFile} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';

/** Writes `repository`, `homepage` and `bugs` into the file. Throws where `address` is no https address of a repository. */
export async function setRepository(file, address) {
  if (!/^https:\/\/[^\s/]+\/\S+$/.test(address))
    throw new Error(`Expected https://HOST/OWNER/NAME, got ${JSON.stringify(address)}.`);
  const home = address.replace(/(?:\.git)?\/?$/, '');
  const manifest = {
    ...JSON.parse(await readFile(file, 'utf8')),
    homepage: `${home}#readme`,
    bugs: `${home}/issues`,
    repository: {type: 'git', url: `git+${home}.git`},
  };
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await setRepository(fileURLToPath(new URL('../../package.json', import.meta.url)), process.argv[2]);
