import {nearestName} from '../core/text/nearest-name.ts';

/** Of `names`, the one that somebody means who writes `written`: by the table of synonyms, else a similar one. */
export function ourName(
  written: string,
  names: readonly string[],
  synonyms: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  const plain = toSnakeCase(written);
  const same = names.find(name => name === plain);
  const synonym = names.find(name => Object.hasOwn(synonyms, name) && synonyms[name]?.includes(plain));
  return same ?? synonym ?? nearestName(written, names);
}

/** `filePath`, `file-path`, `mcp__files__read` and `-i` as our names are written. */
function toSnakeCase(name: string): string {
  return name
    .slice(0, 64)
    .replace(/^mcp__.*?__/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-. ]/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase();
}
