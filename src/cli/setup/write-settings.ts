import {lstat, mkdir, readFile, realpath, stat} from 'node:fs/promises';
import {dirname, relative, sep} from 'node:path';
import type {Result} from '../../core/result.ts';
import {errorCode, errorReason} from '../../system/error-code.ts';
import {replaceFile} from '../../system/replace-file.ts';

/** The content as it is on the disk; `undefined` where there is no file. The error is a sentence. */
export async function readSettingsFile(
  file: string,
  isOfProject: boolean,
): Promise<Result<string | undefined, string>> {
  try {
    // A repository can hold a link to a device, or to a file whose text is nobody's business.
    const info = await lstat(file);
    if (info.isSymbolicLink() && isOfProject) return {ok: false, error: 'is a symbolic link'};
    const target = await stat(file).catch(() => undefined);
    if (target === undefined) return {ok: false, error: 'is a link that leads nowhere'};
    if (!target.isFile()) return {ok: false, error: 'is not a file'};
    return {
      ok: true,
      value: new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(await readFile(file)),
    };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {ok: true, value: undefined};
    const code = errorReason(error);
    return {
      ok: false,
      error: code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code})`,
    };
  }
}

export interface SettingsChange {
  readonly file: string;
  readonly before: string | undefined;
  readonly after: string;
  /** Of settings that lie in a project: the project, which they must not leave by a link. */
  readonly project: string | undefined;
}

/** There is the old file or the new one, whole. A linked file of the user stays linked. The error is a sentence. */
export async function writeSettings({
  file,
  before,
  after,
  project,
}: SettingsChange): Promise<Result<undefined, string>> {
  try {
    await mkdir(dirname(file), {recursive: true, mode: project === undefined ? 0o700 : 0o777});
    const path = await realpath(file).catch(() => file);
    if (project !== undefined && (await leaves(project, file))) {
      return {ok: false, error: 'leaves the project by a symbolic link'};
    }
    const mode = await stat(path).then(
      info => info.mode & 0o777,
      () => (project === undefined ? 0o600 : 0o666),
    );
    // The client may have written since we looked.
    const now = await readSettingsFile(path, project !== undefined);
    if (!now.ok || now.value !== before) return {ok: false, error: 'was changed meanwhile; start again'};
    await replaceFile(path, after, {mode, durable: true});
    return {ok: true, value: undefined};
  } catch (error) {
    return {ok: false, error: `cannot be written (${errorReason(error)})`};
  }
}

/** A repository that somebody else made may hold links to files of the user. */
async function leaves(project: string, file: string): Promise<boolean> {
  const isLink = await lstat(file).then(
    info => info.isSymbolicLink(),
    () => false,
  );
  const inside = relative(await realpath(project), await realpath(dirname(file)));
  return isLink || inside === '..' || inside.startsWith(`..${sep}`);
}
