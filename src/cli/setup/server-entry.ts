import {CLIENT_ENTRIES, type Client, type ClientEntry} from './clients.data.ts';

export type Entry = Readonly<Record<string, string | number | readonly string[]>>;

/** What stands under the name of the server in the settings of a client. */
export function serverEntry(client: Client, [command, ...args]: readonly [string, ...string[]]): Entry {
  const {before, after}: ClientEntry = CLIENT_ENTRIES[client];
  return {...before, command, args, ...after};
}
