import type {Section, SettingsOf, TableListSetting} from '../../core/setting.ts';
import {describeValue, isTable} from './describe-value.ts';
import type {Surroundings} from './expand-path.ts';
import type {Findings} from './findings.ts';
import {nearestKey} from './nearest-key.ts';
import {resolveSetting} from './resolve-setting.ts';

type Entries = Section['entries'];

/** The values of a section and all below it, frozen. `raw` is a TOML table, or `undefined` where none is written. */
export function resolveSection<S extends Section>(
  schema: S,
  raw: unknown,
  surroundings: Surroundings,
  findings: Findings,
): SettingsOf<S> {
  // Recursion ends with the schema, however deep the file is.
  const walk = (entries: Entries, value: unknown, key: string, known: readonly string[]): object => {
    const table = tableOf(value, key, findings);
    const resolved = Object.entries(entries).map(([name, entry]) => {
      const written = Object.hasOwn(table, name) ? table[name] : undefined;
      const path = join(key, name);
      if (entry.kind === 'section') return [name, walk(entry.entries, written, path, known)] as const;
      if (entry.kind === 'table-list') return [name, walkList(entry, written, path)] as const;
      return [name, resolveSetting(entry, written, path, surroundings, findings)] as const;
    });
    for (const name of Object.keys(table)) {
      if (!Object.hasOwn(entries, name)) warnUnknown(join(key, quote(name)), known);
    }
    return Object.freeze(Object.fromEntries(resolved));
  };

  const walkList = (list: TableListSetting, value: unknown = [], key: string): readonly object[] => {
    if (!Array.isArray(value)) {
      findings.problems.push(`Expected ${key} to be an array of tables, got ${describeValue(value)}.`);
      return [];
    }
    const tables = value.map((table: unknown, index) => {
      const path = `${key}[${index}]`;
      const missing = isTable(table) ? list.required.filter(name => table[name] === undefined) : [];
      for (const name of missing)
        findings.problems.push(`Expected ${path} to have the key "${name}". Add it.`);
      return walk(list.entries, table ?? null, path, keysOf(list.entries, path));
    });
    return Object.freeze(tables);
  };

  const warnUnknown = (path: string, known: readonly string[]): void => {
    const nearest = nearestKey(path, known);
    const hint = nearest === undefined ? '' : ` The nearest known key is ${nearest}.`;
    findings.warnings.push(`${path} is not a known key and is ignored.${hint}`);
  };

  // The walk makes, entry by entry, what `SettingsOf` says of the schema; the compiler cannot follow.
  return walk(schema.entries, raw, '', keysOf(schema.entries, '')) as SettingsOf<S>;
}

function tableOf(value: unknown, key: string, findings: Findings): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  if (isTable(value)) return value;
  const what = key === '' ? 'the configuration' : key;
  findings.problems.push(`Expected ${what} to be a table, got ${describeValue(value)}.`);
  return {};
}

function keysOf(entries: Entries, prefix: string): readonly string[] {
  return Object.entries(entries).flatMap(([name, entry]) => {
    const path = join(prefix, name);
    return entry.kind === 'section' ? [path, ...keysOf(entry.entries, path)] : [path];
  });
}

function join(prefix: string, name: string): string {
  return prefix === '' ? name : `${prefix}.${name}`;
}

function quote(name: string): string {
  return /^[\w-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80));
}
