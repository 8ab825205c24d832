// Part of the build: editors show the sentence of a setting where a configuration is written in code, and no id.
import {readdir, readFile, writeFile} from 'node:fs/promises';
import {withoutIds, withSettingsHover} from './settings-hover.js';

const dist = new URL('../dist/', import.meta.url);
for (const name of await readdir(dist, {recursive: true})) {
  if (!name.endsWith('.d.ts')) continue;
  const file = new URL(name.replaceAll('\\', '/'), dist);
  const text = withoutIds(await readFile(file, 'utf8'));
  const isOfSettings = /(?:^|[/\\])(?:options|config-schema)\.d\.ts$/.test(name);
  await writeFile(file, isOfSettings ? withSettingsHover(text) : text);
}
