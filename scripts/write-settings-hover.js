// Part of the build: editors show the sentence of a setting where a configuration is written in code.
import {readdir, readFile, writeFile} from 'node:fs/promises';
import {withSettingsHover} from './settings-hover.js';

const dist = new URL('../dist/', import.meta.url);
for (const name of await readdir(dist, {recursive: true})) {
  if (!/(?:^|[/\\])(?:options|config-schema)\.d\.ts$/.test(name)) continue;
  const file = new URL(name.replaceAll('\\', '/'), dist);
  await writeFile(file, withSettingsHover(await readFile(file, 'utf8')));
}
