import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const DIRECTORY = join(import.meta.dirname, 'corpus');

/** The inputs that are kept for a target: between them they reach every block that was ever reached. */
export function readCorpus(name) {
  const file = join(DIRECTORY, `${name}.txt`);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map(line => new Uint8Array(Buffer.from(JSON.parse(line), 'latin1')));
}

/** One JSON string a line, one character a byte. */
export function writeCorpus(name, inputs) {
  mkdirSync(DIRECTORY, {recursive: true});
  const lines = inputs.map(input => `${ascii(JSON.stringify(Buffer.from(input).toString('latin1')))}\n`);
  writeFileSync(join(DIRECTORY, `${name}.txt`), lines.sort().join(''));
}

function ascii(json) {
  return json.replace(/[\x7f-\xff]/g, character => `\\u00${character.charCodeAt(0).toString(16)}`);
}
