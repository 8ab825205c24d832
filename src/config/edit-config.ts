// Edits TOML files without touching anything else in them. `keepRule` adds an approval rule to the configuration.
import {mkdir, readFile, realpath, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {parse, stringify, TomlError} from 'smol-toml';
import {systemClock} from '../core/clock.ts';
import {fail, ok, type Result} from '../core/result.ts';
import type {ApprovalRule} from '../core/tool-host.ts';
import {errorCode, errorReason} from '../system/errors.ts';
import {takeFileLock} from '../system/file-lock.ts';
import {replaceFile} from '../system/replace-file.ts';
import type {Environment} from './environment.ts';
import {isTable} from './raw-values.ts';
import {resolveConfig} from './resolve-config.ts';

type Table = Readonly<Record<string, unknown>>;

interface TomlTable {
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
  const {rest, comments} = withoutTable(before, `${key}.${name}`);
  const text = `${[rest.trimEnd(), [...comments, lines].join('\n')].filter(Boolean).join('\n\n')}\n`;
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

/** From its head to the next one; comments in front of that stay with it. Those within are kept on lines of their own. */
function withoutTable(
  text: string,
  path: string,
): {readonly rest: string; readonly comments: readonly string[]} {
  const lines = text.split('\n');
  const head = lines.findIndex(line => line.replace(/#.*$/, '').replace(/[\s"']/g, '') === `[${path}]`);
  if (head === -1) return {rest: text, comments: []};
  const next = lines.findIndex((line, at) => at > head && /^\s*\[/.test(line));
  let end = next === -1 ? lines.length : next;
  while (end > head + 1 && /^\s*(?:#.*)?$/.test(lines[end - 1] ?? '')) end--;
  const comments = lines.slice(head, end).flatMap(line => COMMENT.exec(line)?.groups?.['comment'] ?? []);
  return {rest: [...lines.slice(0, head), ...lines.slice(end)].join('\n'), comments};
}

/** Behind what is no string and what is one on its line. */
const COMMENT = /^(?:[^"'#]|"(?:[^"\\]|\\.)*"|'[^']*')*(?<comment>#.*)$/;

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

/** To add a rule takes milliseconds. */
const WAIT_MS = 5_000;

/**
 * Appends a rule to a configuration file, which is otherwise left as it was written; made where there is none.
 * A file that could not be loaded with it is not touched: the message has the lines to add by hand. One caller at a time, in all processes: two sessions may say "always" at once.
 */
export async function keepRule(
  file: string,
  rule: ApprovalRule,
  environment: Environment,
  waitMs = WAIT_MS,
): Promise<Result<undefined>> {
  const written = Object.entries(rule).filter(
    ([, value]) =>
      value === true || ((typeof value === 'object' || typeof value === 'string') && value.length > 0),
  );
  const lines = stringify({tools: {approval: {rules: [Object.fromEntries(written)]}}}).trim();
  try {
    const path = await realpath(file).catch(() => file);
    await mkdir(dirname(path), {recursive: true, mode: 0o700});
    const lock = await takeFileLock(`${path}.lock`, {clock: systemClock, waitMs});
    if (lock.state === 'busy') {
      return fail('io_error', `Another process is changing ${file}. Add the rule there by hand:\n${lines}`, {
        error: 'EBUSY',
      });
    }
    return await appendRule(path).finally(lock.release);
  } catch (error) {
    const code = errorReason(error);
    return fail('io_error', `${file} cannot be written (${code}). Add the rule there by hand:\n${lines}`, {
      error: code,
    });
  }

  async function appendRule(path: string): Promise<Result<undefined>> {
    const before = await readFile(path, 'utf8').catch(noFile);
    const text = `${before}${before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n'}${lines}\n`;
    const problem = problemOf(text, environment);
    if (problem !== undefined) {
      return fail('io_error', `The rule cannot be added to ${file}: ${problem} Add it by hand:\n${lines}`);
    }
    await replaceFile(path, text, {mode: await modeOf(path), durable: true});
    return ok();
  }
}

function noFile(error: unknown): string {
  if (errorCode(error) === 'ENOENT') return '';
  throw error;
}

/** A file with the rule must be one that the next start accepts. `rules = [...]` takes no further table, for one. */
function problemOf(text: string, environment: Environment): string | undefined {
  try {
    const resolved = resolveConfig(parse(text, {integersAsBigInt: true}), environment);
    return resolved.ok ? undefined : resolved.error.join(' ');
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return 'the file would no longer be TOML.';
  }
}

async function modeOf(path: string): Promise<number> {
  return stat(path).then(
    info => info.mode & 0o777,
    () => 0o600,
  );
}
