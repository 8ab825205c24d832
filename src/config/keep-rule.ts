import {mkdir, readFile, realpath, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {parse, stringify, TomlError} from 'smol-toml';
import {systemClock} from '../core/clock.ts';
import {fail} from '../core/failure/fail.ts';
import {ok, type Result} from '../core/result.ts';
import type {ApprovalRule} from '../core/tool-host.ts';
import {errorCode, errorReason} from '../system/error-code.ts';
import {takeFileLock} from '../system/file-lock.ts';
import {replaceFile} from '../system/replace-file.ts';
import type {Environment} from './environment.ts';
import {UNCONFIGURED} from './fill-profile.ts';
import {resolveConfig} from './resolve/resolve-config.ts';

/** Ruling H7: a first file offers what was offered without one. */
const FIRST_LINE = `profile = "${UNCONFIGURED}"\n`;
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
    const text = `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${before === '' ? '' : '\n'}${lines}\n`;
    const problem = problemOf(text, environment);
    if (problem !== undefined) {
      return fail('io_error', `The rule cannot be added to ${file}: ${problem} Add it by hand:\n${lines}`);
    }
    await replaceFile(path, text, {mode: await modeOf(path), durable: true});
    return ok();
  }
}

function noFile(error: unknown): string {
  if (errorCode(error) === 'ENOENT') return FIRST_LINE;
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
