import {mergeTomlTable} from '../../config/merge-toml-table.ts';
import type {Result} from '../../core/result.ts';
import {CLIENT_ENTRIES, type Client, SERVER_NAME} from './clients.data.ts';
import {mergeJson} from './merge-json.ts';
import {serverEntry} from './server-entry.ts';

/** The settings of a client with our server among the others; of an empty file, what to paste. */
export function mergeSettings(
  client: Client,
  before: string,
  start: readonly [string, ...string[]],
): Result<string, string> {
  const {key, format} = CLIENT_ENTRIES[client];
  const table = {key, name: SERVER_NAME, entry: serverEntry(client, start)};
  return format === 'json' ? mergeJson(before, table) : mergeTomlTable(before, table);
}
