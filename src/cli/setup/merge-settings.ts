import {mergeTomlTable} from '../../config/merge-toml-table.ts';
import type {Result} from '../../core/result.ts';
import {CLIENT_ENTRIES, type Client, type ClientEntry, SERVER_NAME} from './clients.data.ts';
import {mergeJson} from './merge-json.ts';

type Entry = Readonly<Record<string, string | number | readonly string[]>>;
type Settings = Readonly<Record<string, unknown>>;

/** The settings of a client with our server among the others; of an empty file, what to paste. */
export function mergeSettings(
  client: Client,
  before: string,
  start: readonly [string, ...string[]],
): Result<string, string> {
  const {key, format} = CLIENT_ENTRIES[client];
  const entry = serverEntry(client, start);
  const keep = (own: Settings): Result<Settings, string> => {
    const lost = flagsOf(own['args']).filter(flag => !flagsOf(entry['args']).includes(flag));
    if (lost.length === 0) return {ok: true, value: {...own, ...entry}};
    return {ok: false, error: `has an entry with ${lost.join(' and ')}, which the new one lacks`};
  };
  const table = {key, name: SERVER_NAME, entry: keep};
  return format === 'json' ? mergeJson(before, table) : mergeTomlTable(before, table);
}

/** What a user wrote into an entry must not go unseen: another configuration, a stricter profile. */
function flagsOf(args: unknown): readonly string[] {
  if (!Array.isArray(args)) return [];
  return args.filter(one => typeof one === 'string' && one.startsWith('--'));
}

/** What stands under the name of the server in the settings of a client. */
function serverEntry(client: Client, [command, ...args]: readonly [string, ...string[]]): Entry {
  const {before, after}: ClientEntry = CLIENT_ENTRIES[client];
  return {...before, command, args, ...after};
}
