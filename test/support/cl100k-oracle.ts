import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {get_encoding, type Tiktoken} from 'tiktoken';

let encoding: Tiktoken | undefined;

/** The count of the reference implementation, special tokens taken as text. Quadratic: keep texts small. */
export function oracleCount(text: string): number {
  encoding ??= get_encoding('cl100k_base');
  return encoding.encode_ordinary(text).length;
}

/** The published rank table: the bytes of every token, by rank. */
export function publishedTokens(): Uint8Array[] {
  const path = createRequire(import.meta.url).resolve('tiktoken/encoders/cl100k_base.json');
  const {bpe_ranks: table} = JSON.parse(readFileSync(path, 'utf8')) as {bpe_ranks: string};
  return table
    .split('\n')
    .flatMap(line => line.split(' ').slice(2))
    .map(token => Buffer.from(token, 'base64'));
}
