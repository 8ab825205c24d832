import {mentionsId} from './mentions-id.js';

const ID = /^(?:N?FR|IT|T|TA|ADR)-[A-Z]/;
const CITED = new RegExp(
  [
    '(?<![\\w-])N?FR-(?:WF|ERR)-[A-Z0-9]+(?:-[A-Z0-9]+)*[a-z]?\\d?(?!\\w)',
    '(?<![\\w-])(?:TA|ADR)-[A-Z]+-\\d+',
    '(?<=[Rr]ulings? (?:[A-Z]\\d+(?:, | and ))*)[A-Z]\\d+(?!\\w)',
    // B and R alone may be findings of a review.
    '(?<=(?://|\\*) )[AC-QS-Z]\\d+(?=[:,])',
  ].join('|'),
  'g',
);

/**
 * `code` has ends of the paths of modules that hold it without citing it; `tests`, ids or beginnings of titles that prove
 * it without naming it; `expected`, beginnings of titles that are still to come; `lacks`, what is not so until then.
 *
 * @typedef {{readonly id: string, readonly says: string, readonly code?: readonly string[],
 *   readonly tests?: readonly string[], readonly expected?: readonly string[], readonly lacks?: string,
 *   readonly planned?: boolean}} Requirement
 * @typedef {{readonly document: string, readonly title: string, readonly entries: readonly Requirement[]}} RequirementGroup
 */

/**
 * Finds the modules and tests of every entry of requirements.json. A module is found by citing the id, or by the
 * end of its path in `code`; a test by naming the id in its title, or by what its title begins with in `tests`.
 */
export function traceRequirements(groups, {modules, titles}) {
  const problems = [];
  const awaited = [];
  const known = new Set();
  const traced = groups.map(group => ({...group, entries: group.entries.map(trace)}));
  for (const {path, text} of modules) reportUnknown(path, text);
  for (const {path, title} of titles) reportUnknown(path, title);
  return {groups: traced, problems, awaited};

  function trace(entry) {
    const {id} = entry;
    if (known.has(id)) problems.push(`${id} is in requirements.json twice.`);
    known.add(id);
    const named = titles.filter(({title}) => mentionsId(title, id));
    if (entry.planned) {
      if (named.length > 0) problems.push(`${id} is marked as planned and has a test in ${named[0].path}.`);
      return {...entry, code: [], proofs: [], isAwaited: false};
    }
    const code = modulesOf(entry);
    const proofs = proofsOf(entry, named);
    const isAwaited = (entry.expected ?? []).some(
      start => !titles.some(({title}) => title.startsWith(start)),
    );
    if (isAwaited) awaited.push(id);
    if (proofs.length === 0 && !isAwaited) {
      problems.push(`${id} is proved by no test: no title names it, and it has no "tests".`);
    }
    return {...entry, code, proofs, isAwaited};
  }

  function modulesOf({id, code: ends = []}) {
    const paths = new Set(modules.filter(({text}) => mentionsId(text, id)).map(({path}) => path));
    for (const end of ends) {
      const found = modules.filter(({path}) => path.endsWith(`/${end}`));
      if (found.length === 1) paths.add(found[0].path);
      else
        problems.push(`${id} names ${end}, which is the end of ${found.length} paths of src/, not of one.`);
    }
    if (paths.size === 0) problems.push(`${id} is cited in no module and names none in "code".`);
    return [...paths].sort();
  }

  function proofsOf({id, tests = []}, named) {
    const proofs = named.length === 0 ? [] : [{ref: id, paths: pathsOf(named)}];
    for (const ref of tests) {
      const isId = ID.test(ref) && !ref.includes(' ');
      const found = titles.filter(({title}) => (isId ? mentionsId(title, ref) : title.startsWith(ref)));
      if (found.length > 0) proofs.push({ref, paths: pathsOf(found)});
      else problems.push(`${id} names the test "${ref}", and no title of a test begins so.`);
    }
    return proofs;
  }

  function reportUnknown(path, text) {
    for (const [id] of text.matchAll(CITED)) {
      if (!known.has(id)) problems.push(`${path} cites ${id}, which is not in requirements.json.`);
    }
  }
}

const pathsOf = found => [...new Set(found.map(({path}) => path))];
