import {readFile} from 'node:fs/promises';
import {promisify} from 'node:util';
import {brotliDecompress} from 'node:zlib';
import {packageFile} from '../../../core/package-file.ts';

/**
 * What turns codes of East Asian fonts into characters comes with this package, as one file: a line of JSON with the
 * place and length of each map, then the maps. The build writes it (`scripts/bundle.js`).
 */
export class CharacterMaps {
  /** For pdf.js, which asks for a map by its name. */
  async fetch({kind, filename}: {readonly kind: string; readonly filename: string}): Promise<Uint8Array> {
    const {places, maps} = await allMaps();
    const place = places.get(filename);
    if (kind !== 'cMapUrl' || place === undefined) throw new Error('There is no such file.');
    return maps.slice(place.start, place.start + place.length);
  }
}

interface AllMaps {
  readonly places: ReadonlyMap<string, {readonly start: number; readonly length: number}>;
  readonly maps: Uint8Array;
}

let read: Promise<AllMaps> | undefined;

/** Most documents need none, so they are read with the first that is asked for. */
function allMaps(): Promise<AllMaps> {
  read ??= readFile(packageFile('dist/cmaps.br')).then(promisify(brotliDecompress)).then(parse);
  return read;
}

function parse(bytes: Buffer): AllMaps {
  const end = bytes.indexOf('\n');
  const listed: Record<string, {start: number; length: number}> = JSON.parse(bytes.toString('utf8', 0, end));
  return {places: new Map(Object.entries(listed)), maps: new Uint8Array(bytes.subarray(end + 1))};
}
