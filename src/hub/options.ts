import type {Section, SettingsOf} from '../core/setting.ts';

/** Ruling S1: `[tools.hub]`. */
export const hubSection = {
  kind: 'section',
  doc: 'What several replicas share: pages, robots.txt, and how often a host is asked.',
  extension: true,
  entries: {
    url: {
      kind: 'text',
      default: '',
      doc: 'A server that speaks the Redis protocol, version 7.0 or later: `redis://hub.example.com:6379/0`, or `rediss://` for TLS. Empty shares nothing, and nothing of it is loaded. Credentials do not belong into it. Needs the package `@redis/client`.',
    },
    username_env: {
      kind: 'text',
      default: '',
      doc: 'The environment variable that holds the user name. Empty sends none.',
    },
    password_env: {
      kind: 'text',
      default: '',
      doc: 'The environment variable that holds the password. Empty sends none.',
    },
    ca_file: {
      kind: 'text',
      default: '',
      path: true,
      doc: 'PEM certificates that the certificate of a `rediss://` server must lead to. Empty takes those that Node trusts.',
    },
    required: {
      kind: 'flag',
      default: false,
      doc: 'Fail a fetch with `hub_unavailable` while the server cannot be reached. Otherwise the fetch goes on with the cache of its own machine and its part of the limits.',
    },
    budget_ms: {
      kind: 'integer',
      default: 250,
      min: 10,
      max: 10_000,
      unit: 'ms',
      doc: 'How long a look into the shared page cache may take. What takes longer is a miss.',
    },
    max_bytes: {
      kind: 'integer',
      default: 268_435_456,
      min: 16_777_216,
      max: 1_099_511_627_776,
      unit: 'bytes',
      doc: 'Total size of the shared pages and robots.txt; the least recently used go first.',
    },
    max_per_host: {
      kind: 'integer',
      default: 4,
      min: 1,
      max: 64,
      doc: 'Requests for documents and robots.txt that all replicas together have open at one host.',
    },
    host_gap_ms: {
      kind: 'integer',
      default: 100,
      min: 0,
      max: 600_000,
      unit: 'ms',
      doc: 'Least time between two such requests to one host, from whichever replica.',
    },
  },
} as const satisfies Section;

/** The settings under `tools.hub`. */
export type HubSettings = SettingsOf<typeof hubSection>;
