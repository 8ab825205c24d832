// Finds and reads the one configuration file. A file of the workspace is never looked at.
import {lstat, readFile, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {parse, TomlError} from 'smol-toml';
import {ok, type Result} from '../core/result.ts';
import {errorReason} from '../system/errors.ts';
import {type ConfigPath, configPath, type Environment} from './environment.ts';
import type {Profile} from './profiles.ts';
import {type ResolvedConfig, resolveConfig} from './resolve-config.ts';

export interface ConfigRequest extends Environment {
  /** `--config FILE`; relative to the working directory. */
  readonly path?: string | undefined;
  /** `--profile NAME`: stands in for the `profile` of the file. */
  readonly profile?: Profile | undefined;
}

export interface LoadedConfig extends ResolvedConfig {
  /** The file that was read; `undefined` where there is none and a profile holds. */
  readonly source: string | undefined;
}

/** Ruling H5: reads the one configuration file. A file of the workspace is never looked at. */
export async function loadConfig(request: ConfigRequest): Promise<Result<LoadedConfig, readonly string[]>> {
  const source = configPath(request.path, request);
  const text = source === undefined ? ok(undefined) : await readSource(source);
  if (!text.ok) return text;
  const {profile} = request;
  if (source === undefined || text.value === undefined) {
    return located(resolveConfig(profile && {profile}, request), source?.file, false);
  }
  const raw = parseToml(text.value, source.file);
  if (!raw.ok) return raw;
  const chosen = profile === undefined ? raw.value : {...raw.value, profile};
  return located(resolveConfig(chosen, request), source.file, true);
}

async function readSource({
  file,
  namedBy,
}: ConfigPath): Promise<Result<string | undefined, readonly string[]>> {
  try {
    return ok(new TextDecoder('utf-8', {fatal: true}).decode(await readFile(file)));
  } catch (error) {
    const code = errorReason(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      if (namedBy === undefined) {
        // Ruling H7: without a file the tools are on. One that somebody keeps elsewhere must not count as none.
        return (await hangsOnLink(file))
          ? problem(`${file} is, or lies behind, a link that leads nowhere. Mend or remove it.`)
          : ok(undefined);
      }
      return problem(`${file}, named by ${namedBy}, does not exist. Correct the path, or leave it out.`);
    }
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      return problem(`${file} is not UTF-8. Save it in that encoding.`);
    }
    return problem(`${file} cannot be read (${code}). Make it a readable file.`);
  }
}

/** Whether the nearest thing on the way to a file that is there is a link that leads nowhere. */
async function hangsOnLink(path: string): Promise<boolean> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return dirname(path) !== path && hangsOnLink(dirname(path));
  const leads = () =>
    stat(path).then(
      () => true,
      () => false,
    );
  return info.isSymbolicLink() && !(await leads());
}

function parseToml(text: string, file: string): Result<object, readonly string[]> {
  try {
    return ok(parse(text, {integersAsBigInt: true}));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what = ''] = error.message.split('\n', 1);
    const line = text.split(/\r?\n/)[error.line - 1] ?? '';
    return problem(
      `${file}:${error.line}:${error.column}: ${what.replace('Invalid TOML document: ', '')}, in the line: ${line.trim().slice(0, 120)}`,
    );
  }
}

/** Findings say which file they are about. */
function located(
  result: Result<ResolvedConfig, readonly string[]>,
  configFile: string | undefined,
  isThere: boolean,
): Result<LoadedConfig, readonly string[]> {
  const source = isThere ? configFile : undefined;
  const locate = (finding: string): string => (source === undefined ? finding : `${source}: ${finding}`);
  if (!result.ok) return {ok: false, error: result.error.map(locate)};
  return ok({...result.value, warnings: result.value.warnings.map(locate), source, configFile});
}

function problem(text: string): Result<never, readonly string[]> {
  return {ok: false, error: [text]};
}
