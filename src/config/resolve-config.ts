// Turns raw TOML into frozen settings. It fills in defaults, clamps numbers, warns about unknown keys and lists
// what stops start-up.
import {type Json, ok, type Result} from '../core/result.ts';
import type {
  IntegerSetting,
  Section,
  Setting,
  SettingsOf,
  TableListSetting,
  TextSetting,
} from '../core/setting.ts';
import {type Config, configSchema} from './config-schema.ts';
import {fillProfile} from './profiles.ts';
import {
  describeNumber,
  describeValue,
  expandPath,
  type Findings,
  isTable,
  nearestKey,
  type Surroundings,
  toJson,
} from './raw-values.ts';

export interface ResolvedConfig {
  readonly config: Config;
  /** One for each value that is used otherwise than written, and for each unknown key. */
  readonly warnings: readonly string[];
  /** W12: whether the user wrote `tools.output.max_bytes`; its default holds for fewer tools. */
  readonly limitsOutput: boolean;
  /** Ruling H3: the `tools.mode` that the user wrote; `undefined` where it is the default. */
  readonly writtenMode: Config['tools']['mode'] | undefined;
  /** Ruling H7: whether the user wrote `tools.approval.mode`; otherwise it is the default, or that of the profile. */
  readonly writesApprovalMode: boolean;
  /** The file that the configuration comes from, there or not, for messages. A program that passes an object has none. */
  readonly configFile?: string | undefined;
}

/**
 * Ruling A9: raw configuration (parsed TOML, or an object of that shape; `undefined` for none) to
 * resolved configuration. The error is every problem that stops start-up.
 */
export function resolveConfig(
  raw: unknown,
  surroundings: Surroundings,
): Result<ResolvedConfig, readonly string[]> {
  const findings: Findings = {warnings: [], problems: []};
  const config = resolveSection(configSchema, fillProfile(raw), surroundings, findings);
  if (findings.problems.length > 0) return {ok: false, error: findings.problems};
  return ok({
    config,
    warnings: findings.warnings,
    limitsOutput: isWritten(raw, ['tools', 'output', 'max_bytes']),
    writtenMode: isWritten(raw, ['tools', 'mode']) ? config.tools.mode : undefined,
    writesApprovalMode: isWritten(raw, ['tools', 'approval', 'mode']),
  });
}

function isWritten(raw: unknown, [key, ...below]: readonly string[]): boolean {
  if (key === undefined) return raw !== undefined;
  return isTable(raw) && Object.hasOwn(raw, key) && isWritten(raw[key], below);
}

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

/**
 * The value of one setting; its default where nothing is written. What cannot be used is a problem,
 * and the default stands in so that the rest of the file is looked at too.
 */
function resolveSetting(
  setting: Exclude<Setting, TableListSetting>,
  raw: unknown,
  key: string,
  surroundings: Surroundings,
  findings: Findings,
): Json {
  const written = raw === undefined ? setting.default : raw;
  const refuse = (expected: string, value: unknown = written, where = key): void => {
    findings.problems.push(`Expected ${where} to be ${expected}, got ${describeValue(value)}.`);
  };
  switch (setting.kind) {
    case 'flag':
      if (typeof written === 'boolean') return written;
      refuse('true or false');
      return setting.default;
    case 'integer': {
      const integer = toInteger(written);
      if (integer !== undefined) return clamp(integer, setting, key, findings);
      refuse(`an integer in ${setting.min}-${setting.max}`);
      return setting.default;
    }
    case 'text':
      // FR-WF-CFG-03a: any white space makes a blank path, a line break too.
      if (setting.path === true && isBlank(written)) return '';
      if (isText(written)) return toText(written, setting, key, surroundings, findings);
      refuse(TEXT);
      return setting.default;
    case 'choice': {
      const choice = setting.choices.find(known => known === written);
      if (choice !== undefined) return choice;
      refuse(setting.choices.map(known => JSON.stringify(known)).join(' or '));
      return setting.default;
    }
    case 'open-table': {
      const json = isTable(written) ? toJson(written) : undefined;
      if (json !== undefined) return json;
      refuse('a table of JSON values');
      return setting.default;
    }
    case 'text-list':
      return listOf(written, entry => (isText(entry) ? entry : undefined), TEXT, 'strings');
    case 'integer-list':
      // No range here: what an unusable entry means is the business of the room that reads it (ruling A9).
      return listOf(
        written,
        entry => {
          const integer = toInteger(entry);
          return integer === undefined ? undefined : Number(integer);
        },
        'an integer',
        'integers',
      );
  }

  function listOf<Entry>(
    value: unknown,
    accept: (entry: unknown) => Entry | undefined,
    expected: string,
    plural: string,
  ): readonly Entry[] {
    if (!Array.isArray(value)) {
      refuse(`an array of ${plural}`);
      return [];
    }
    const list = value.flatMap((entry: unknown, index) => {
      const accepted = accept(entry);
      if (accepted !== undefined) return [accepted];
      refuse(expected, entry, `${key}[${index}]`);
      return [];
    });
    return Object.freeze(list);
  }
}

const TEXT = 'a string without control characters';

/** Control characters serve no setting, and would end up in headers, paths and terminals. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !/\p{Cc}/u.test(value);
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

/** TOML integers arrive as bigint, so that 2^60 is exact; `20.0` counts as 20. */
function toInteger(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

/** SRD 5.4, ruling A9: out of range is clamped, with one warning. */
function clamp(value: bigint, {min, max}: IntegerSetting, key: string, findings: Findings): number {
  const used = value < BigInt(min) ? min : value > BigInt(max) ? max : undefined;
  if (used === undefined) return Number(value);
  findings.warnings.push(`${key} = ${describeNumber(value)} is outside ${min}-${max}; ${used} is used.`);
  return used;
}

function toText(
  written: string,
  setting: TextSetting,
  key: string,
  surroundings: Surroundings,
  findings: Findings,
): string {
  if (setting.path !== true) return written;
  const {path, warning} = expandPath(written, surroundings);
  if (warning !== undefined) findings.warnings.push(`${key} ${warning}.`);
  return path;
}
