import {isDeepStrictEqual} from 'node:util';
import {parse, stringify, TomlError} from 'smol-toml';
import type {Result} from '../core/result.ts';
import {isTable} from './resolve/describe-value.ts';

type Table = Readonly<Record<string, unknown>>;

export interface TomlTable {
  /** `[key.name]` */
  readonly key: string;
  readonly name: string;
  /** From what is there, `{}` where nothing is. The error is a sentence. */
  readonly entry: (own: Table) => Result<Table, string>;
}

/** The text of a TOML file with that table; everything else, comments included, is as it was. The error is a sentence. */
export function mergeTomlTable(before: string, {key, name, entry}: TomlTable): Result<string, string> {
  const wanted = new Map<string, unknown>();
  let made: Table;
  try {
    const parsed = parse(before);
    const servers = Object.hasOwn(parsed, key) ? parsed[key] : {};
    if (!isTable(servers)) return {ok: false, error: `has a ${key} that is no table`};
    for (const [part, value] of Object.entries(parsed)) wanted.set(part, value);
    const own = Object.hasOwn(servers, name) ? servers[name] : {};
    const result = entry(isTable(own) ? own : {});
    if (!result.ok) return result;
    made = result.value;
    wanted.set(key, {...servers, [name]: made});
  } catch (error) {
    return notToml(error);
  }
  const lines = stringify({[key]: {[name]: made}}).trim();
  const rest = withoutTable(before, `${key}.${name}`).trimEnd();
  const text = `${rest}${rest === '' ? '' : '\n\n'}${lines}\n`;
  try {
    const isMeant = isDeepStrictEqual(plain(parse(text)), plain(Object.fromEntries(wanted)));
    return isMeant
      ? {ok: true, value: text}
      : {ok: false, error: `has ${key}.${name} in a form that is not edited`};
  } catch (error) {
    return error instanceof TomlError
      ? {ok: false, error: `has ${key} in a form that takes no further table`}
      : notToml(error);
  }
}

/** From its head to the next one; comments in front of that stay with it. */
function withoutTable(text: string, path: string): string {
  const lines = text.split('\n');
  const head = lines.findIndex(line => line.replace(/#.*$/, '').replace(/[\s"']/g, '') === `[${path}]`);
  if (head === -1) return text;
  const next = lines.findIndex((line, at) => at > head && /^\s*\[/.test(line));
  let end = next === -1 ? lines.length : next;
  while (end > head + 1 && /^\s*(?:#.*)?$/.test(lines[end - 1] ?? '')) end--;
  return [...lines.slice(0, head), ...lines.slice(end)].join('\n');
}

function notToml(error: unknown): Result<never, string> {
  if (!(error instanceof TomlError)) throw error;
  return {ok: false, error: `is not TOML (line ${error.line})`};
}

/** Tables have no prototype in one version of the parser and one in another. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isTable(value)) return value;
  return new Map(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}
