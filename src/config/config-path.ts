import {isAbsolute, join, resolve} from 'node:path';
import type {Environment} from './environment.ts';

/** A configuration file, and who named it; undefined where it is the user's usual one. */
export interface ConfigPath {
  readonly file: string;
  readonly namedBy?: '--config' | 'FORGE_CONFIG';
}

/**
 * Ruling H5: `--config`, else FORGE_CONFIG, else the XDG directory, which must be absolute to count.
 * `undefined` where there is no home to look in.
 */
export function configPath(
  written: string | undefined,
  {env, cwd, homeDir}: Environment,
): ConfigPath | undefined {
  if (written !== undefined) return {file: resolve(cwd, written), namedBy: '--config'};
  const fromEnv = env['FORGE_CONFIG'];
  if (fromEnv !== undefined && fromEnv.trim() !== '') {
    return {file: resolve(cwd, fromEnv), namedBy: 'FORGE_CONFIG'};
  }
  const xdg = env['XDG_CONFIG_HOME'];
  if (xdg !== undefined && isAbsolute(xdg)) return {file: join(xdg, 'forge', 'config.toml')};
  return isAbsolute(homeDir) ? {file: join(homeDir, '.config', 'forge', 'config.toml')} : undefined;
}
