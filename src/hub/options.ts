// The settings below `[tools.hub]`.
import {flag, integer, own, path, type SettingsOf, section, text} from '../core/setting.ts';

/** Ruling S1: `[tools.hub]`. */
// biome-ignore format: a setting is a line
export const hubSection = own(section('A server through which replicas share pages, robots.txt and limits on hosts.', {
  url: text('', 'A server of the Redis protocol, 7.0 or later: `redis://hub.example.com:6379/0`, or `rediss://` for TLS. Empty shares nothing. Do not write credentials here. Needs the package `@redis/client`.'),
  username_env: text('', 'The environment variable that holds the user name. Empty sends none.'),
  password_env: text('', 'The environment variable that holds the password. Empty sends none.'),
  ca_file: path('', 'PEM certificates to trust for a `rediss://` server. Empty takes those that Node trusts.'),
  required: flag(false, 'Fail a fetch with `hub_unavailable` while the server cannot be reached. Otherwise it uses its own cache and its share of the limits.'),
  budget_ms: integer(250, [10, 10_000, 'ms'], 'Timeout of a lookup in the shared page cache; then it is a miss.'),
  max_bytes: integer(268_435_456, [16_777_216, 1_099_511_627_776, 'bytes'], 'Total size of the shared pages and robots.txt; the least recently used go first.'),
  max_per_host: integer(4, [1, 64], 'Open requests for documents and robots.txt at one host, for all replicas together.'),
  host_gap_ms: integer(100, [0, 600_000, 'ms'], 'Least time between two such requests to one host, from all replicas.'),
}));

/** The settings under `tools.hub`. */
export type HubSettings = SettingsOf<typeof hubSection>;
