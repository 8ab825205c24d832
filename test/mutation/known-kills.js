import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const DIRECTORY = new URL('.kills/outcomes/', import.meta.url);

/**
 * Keeps which mutants of a module died, each with the test file that noticed it, for a next run that only wants
 * to know of the others. Written whenever a worker ends, so that a run that is stopped is not lost.
 */
export function keepKills(module, mutants, root) {
  const hash = hasher(root);
  const kills = mutants
    .filter(({outcome, by}) => by !== undefined && (outcome === 'killed' || outcome === 'timedOut'))
    .map(mutant => [
      identify(mutant),
      {outcome: mutant.outcome, by: mutant.by, texts: textsOf(mutant, hash)},
    ]);
  mkdirSync(DIRECTORY, {recursive: true});
  writeFileSync(new URL(`${module}.json`, DIRECTORY), JSON.stringify(Object.fromEntries(kills)));
}

/** Those kills that stand: neither the mutated file nor the test file that noticed it is another one by now. */
export function standingKills(module, mutants, root) {
  const hash = hasher(root);
  const kills = read(module);
  return mutants.flatMap(mutant => {
    const kill = kills[identify(mutant)];
    const stands = kill !== undefined && kill.texts === textsOf({...mutant, by: kill.by}, hash);
    return stands ? [{...mutant, outcome: kill.outcome, by: kill.by}] : [];
  });
}

function read(module) {
  try {
    return JSON.parse(readFileSync(new URL(`${module}.json`, DIRECTORY), 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}

/** Where it is and what it becomes: what it was follows from the text of its file. */
function identify({file, start, end, replacement}) {
  return JSON.stringify([file, start, end, replacement]);
}

/** Of the mutated file as it was before the switches came in, and of the test file. */
function textsOf({source, by}, hash) {
  return `${digest(source)} ${hash(by)}`;
}

function hasher(root) {
  const known = new Map();
  return path => {
    if (!known.has(path)) known.set(path, digest(readOptional(join(root, path))));
    return known.get(path);
  };
}

function readOptional(path) {
  try {
    return readFileSync(path);
  } catch {
    return '';
  }
}

function digest(text) {
  return createHash('sha256').update(text).digest('base64');
}
