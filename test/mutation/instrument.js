import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const SILENT = Object.fromEntries(
  ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].flatMap(level => [
    [level, () => {}],
    [`is${level[0].toUpperCase()}${level.slice(1)}Enabled`, () => false],
  ]),
);

/**
 * Puts every mutant of these files into their code, each behind a switch (Stryker's instrumenter), in the
 * sandbox. The mutants, with 1-based lines and columns.
 */
export async function instrument(paths, {root}) {
  // Installed by the time this is called, not by the time this module is loaded.
  const {createInjector} = await import('typed-inject');
  const {commonTokens} = await import('@stryker-mutator/api/plugin');
  const {createInstrumenter} = await import('@stryker-mutator/instrumenter');
  const instrumenter = createInjector()
    .provideValue(commonTokens.logger, SILENT)
    .injectFunction(createInstrumenter);
  const sources = paths.map(path => ({path, text: readFileSync(join(root, path), 'utf8')}));
  const {files, mutants} = await instrumenter.instrument(
    sources.map(({path, text}) => ({name: path, content: text, mutate: true})),
    {plugins: null, excludedMutations: [], ignorers: [], noHeader: false},
  );
  for (const {name, content} of files) writeFileSync(join(root, name), content);
  const sourceOf = new Map(sources.map(({path, text}) => [path, text]));
  return mutants.map(({id, fileName, replacement, location: {start, end}}) => ({
    id,
    file: fileName,
    source: sourceOf.get(fileName),
    replacement,
    start: {line: start.line + 1, column: start.column},
    end: {line: end.line + 1, column: end.column},
  }));
}
