import {join, resolve} from 'node:path';
import type {Environment} from '../../config/environment.ts';
import {CLIENT_ENTRIES, type Client, type ClientEntry} from './clients.data.ts';

/** Where a client looks for its servers on this system: for all projects of the user, or for the project here. */
export function settingsFile(
  client: Client,
  scope: 'user' | 'project',
  {env, homeDir, cwd}: Environment,
  platform: string,
): string | undefined {
  const {user, project}: ClientEntry = CLIENT_ENTRIES[client];
  if (scope === 'project') return project === undefined ? undefined : join(cwd, project);
  if (user === undefined) return undefined;
  const own = OWN_DIRECTORY[client];
  const moved = own === undefined ? undefined : env[own.variable];
  if (own !== undefined && moved !== undefined && moved !== '') return join(resolve(cwd, moved), own.file);
  const place = platform === 'darwin' || platform === 'win32' ? user[platform] : user.linux;
  const appData = env['APPDATA'] ?? join(homeDir, 'AppData', 'Roaming');
  const config = env['XDG_CONFIG_HOME'];
  if (config?.startsWith('/') && place.startsWith('~/.config/')) {
    return join(config, place.slice('~/.config/'.length));
  }
  return join(place.replace(/^~(?=\/)/, () => homeDir).replace(/^%APPDATA%/, () => appData));
}

/** Clients whose directory a variable moves. */
const OWN_DIRECTORY: Partial<Record<Client, {readonly variable: string; readonly file: string}>> = {
  codex: {variable: 'CODEX_HOME', file: 'config.toml'},
  copilot: {variable: 'COPILOT_HOME', file: 'mcp-config.json'},
};
