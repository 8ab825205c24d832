import {mkdir, open, readFile, realpath, rename, stat, unlink} from 'node:fs/promises';
import {dirname} from 'node:path';
import {parse, stringify, TomlError} from 'smol-toml';
import {fail} from '../core/failure.ts';
import {randomHex} from '../core/random.ts';
import {ok, type Result} from '../core/result.ts';
import type {ApprovalRule} from '../core/tool-host.ts';
import type {Environment} from './environment.ts';
import {resolveConfig} from './resolve-config.ts';

/**
 * Appends a rule to a configuration file, which is otherwise left as it was written; made where there is none.
 * A file that could not be loaded with it is not touched: the message has the lines to add by hand.
 */
export async function keepRule(
  file: string,
  rule: ApprovalRule,
  environment: Environment,
): Promise<Result<undefined>> {
  const written = Object.entries(rule).filter(([, value]) => value !== '' && value.length > 0);
  const lines = stringify({tools: {approval: {rules: [Object.fromEntries(written)]}}}).trim();
  try {
    const path = await realpath(file).catch(() => file);
    const before = await readFile(path, 'utf8').catch(noFile);
    const text = `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${before === '' ? '' : '\n'}${lines}\n`;
    const problem = problemOf(text, environment);
    if (problem !== undefined) {
      return fail('io_error', `The rule cannot be added to ${file}: ${problem} Add it by hand:\n${lines}`);
    }
    await mkdir(dirname(path), {recursive: true, mode: 0o700});
    await replace(path, text);
    return ok();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return fail('io_error', `${file} cannot be written (${code}). Add the rule there by hand:\n${lines}`, {
      error: code,
    });
  }
}

function noFile(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
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

async function replace(path: string, text: string): Promise<void> {
  const mode = await stat(path).then(
    info => info.mode & 0o777,
    () => 0o600,
  );
  const temporary = `${path}.${randomHex(6)}.tmp`;
  const handle = await open(temporary, 'wx', mode);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
