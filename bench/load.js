import {createRequire} from 'node:module';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const require = createRequire(import.meta.url);

/** The build that is measured: this checkout's, or with `--dist` another one's, to compare two. */
export function distDirectory() {
  return process.env.FORGE_BENCH_DIST || join(import.meta.dirname, '../dist');
}

/** A module of the build, such as `web/tokens/count-tokens.js`. */
export function loadOurs(path) {
  return import(pathToFileURL(join(distDirectory(), path)));
}

/** A package to compare with; `undefined`, with a line that says so, where it does not load on this machine. */
export async function loadPeer(name) {
  try {
    return await import(name);
  } catch (error) {
    console.log(`  (${name} is left out: ${String(error.message).split('\n')[0]})`);
    return undefined;
  }
}

/** As `loadPeer`, for an addon, which is no ES module. */
export function loadAddon(name) {
  try {
    return require(name);
  } catch (error) {
    console.log(`  (${name} is left out: ${String(error.message).split('\n')[0]})`);
    return undefined;
  }
}
