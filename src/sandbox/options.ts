import type {Section, SettingsOf} from '../core/setting.ts';

/** Ruling W8: `[tools.run]`. */
export const runSection = {
  kind: 'section',
  doc: 'Running commands in a sandbox.',
  extension: true,
  entries: {
    enabled: {kind: 'flag', default: true, doc: 'Offer `run` to agents, where `tools.mode` is `"enabled"`.'},
    sandbox: {
      kind: 'choice',
      default: 'auto',
      choices: ['auto', 'docker', 'bubblewrap', 'none'],
      doc: '`auto` takes Docker where a daemon and the image are there, else bubblewrap, else nothing is run. `none` runs commands as the user of the host and needs `allow_insecure_none`.',
    },
    allow_insecure_none: {
      kind: 'flag',
      default: false,
      doc: 'Must be true for `sandbox = "none"`: commands then reach every file and network that the host reaches.',
    },
    git: {
      kind: 'choice',
      default: 'read-only',
      choices: ['read-only', 'commit'],
      doc: 'What commands may do with `.git`. `commit` lets them write objects, refs, index and logs; what git executes or is configured by, and `HEAD`, stay for reading.',
    },
    isolation: {
      kind: 'choice',
      default: 'session',
      choices: ['session', 'fresh'],
      doc: 'With Docker: one container for a session, or a new one for each command. bubblewrap is always fresh.',
    },
    timeout_seconds: {
      kind: 'integer',
      default: 120,
      min: 1,
      max: 3600,
      unit: 's',
      doc: 'Wall time of a command that gives no `timeout_sec`.',
    },
    max_timeout_seconds: {
      kind: 'integer',
      default: 600,
      min: 1,
      max: 86_400,
      unit: 's',
      doc: 'Largest `timeout_sec` that a call may give.',
    },
    background: {
      kind: 'section',
      doc: 'Commands that outlive the call that starts them (`run` with `background`). All end with the session.',
      extension: true,
      entries: {
        max_commands: {
          kind: 'integer',
          default: 4,
          min: 0,
          max: 64,
          doc: 'So many at a time, each with the limits of a command. 0 allows none.',
        },
        max_life_seconds: {
          kind: 'integer',
          default: 3600,
          min: 1,
          max: 86_400,
          unit: 's',
          doc: 'Wall time after which each is ended. A `timeout_sec` can shorten it.',
        },
      },
    },
    egress: {
      kind: 'section',
      doc: 'The way out of the sandbox. Where `allow` and `presets` are empty there is none, and nothing of it exists. `sandbox = "none"` has the network of the host and no use for it.',
      extension: true,
      entries: {
        allow: {
          kind: 'text-list',
          default: [],
          doc: 'Hosts that commands may reach: `packages.example.com` and `*.example.org:8443` by TLS, `http://deb.example.com` by plain HTTP (GET and HEAD). `*.` stands for every host below a name.',
        },
        presets: {
          kind: 'text-list',
          default: [],
          doc: 'Lists of hosts that come along: `npm`, `pypi`, `crates`, `debian`, `github`.',
        },
        credentials: {
          kind: 'table-list',
          default: [],
          required: ['host'],
          doc: 'A secret that the gate adds to the requests for one host of `allow`, so that no command holds it. For such a host the gate ends the TLS of commands, with an authority made for the session, and speaks HTTP/1.1 by TLS to the host.',
          entries: {
            host: {
              kind: 'text',
              default: '',
              doc: 'The host, with a port unless it is 443: `npm.example.com`, `git.example.com:8443`. No wildcards.',
            },
            header: {kind: 'text', default: 'Authorization', doc: 'The header that carries it.'},
            prefix: {
              kind: 'text',
              default: '',
              doc: 'Written in front of the secret: `"Bearer "`, `"Basic "`.',
            },
            env: {
              kind: 'text',
              default: '',
              doc: 'The environment variable of the host that holds the secret. Not one of `inherit_env`.',
            },
            file: {
              kind: 'text',
              default: '',
              path: true,
              doc: 'The file that holds the secret, outside of the workspace; a line break at its end is left out. Either this or `env`.',
            },
          },
        },
        max_connections: {
          kind: 'integer',
          default: 1000,
          min: 1,
          max: 100_000,
          doc: 'Connections of one command altogether, those that are refused included. 64 may be open at a time.',
        },
        max_mb: {
          kind: 'integer',
          default: 1024,
          min: 1,
          max: 1_048_576,
          unit: 'MiB',
          doc: 'What one command may send and receive altogether.',
        },
        max_connection_sec: {
          kind: 'integer',
          default: 600,
          min: 1,
          max: 86_400,
          unit: 's',
          doc: 'How long one connection may last.',
        },
      },
    },
    memory_mb: {
      kind: 'integer',
      default: 2048,
      min: 64,
      max: 1_048_576,
      unit: 'MiB',
      doc: 'Memory of all processes of a command together, swap and temporary files included. Where bubblewrap has no control group of its own to use, of each process.',
    },
    tmp_mb: {
      kind: 'integer',
      default: 512,
      min: 1,
      max: 1_048_576,
      unit: 'MiB',
      doc: 'Size of `/tmp`, which lies in memory.',
    },
    max_processes: {
      kind: 'integer',
      default: 512,
      min: 16,
      max: 32_768,
      doc: 'Processes and threads at a time.',
    },
    cpus: {
      kind: 'integer',
      default: 2,
      min: 1,
      max: 1024,
      doc: 'Processor time per second of wall time. Needs Docker or a control group.',
    },
    open_files: {
      kind: 'integer',
      default: 4096,
      min: 64,
      max: 1_048_576,
      doc: 'Open files of each process.',
    },
    kept_output_mb: {
      kind: 'integer',
      default: 256,
      min: 64,
      max: 1_048_576,
      unit: 'MiB',
      doc: 'What a session keeps for `read_output` of long outputs, 16 MiB of a stream at most. The oldest go first.',
    },
    path: {
      kind: 'text',
      default: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      doc: '`PATH` inside bubblewrap. In Docker that of the image holds.',
    },
    readable_paths: {
      kind: 'text-list',
      default: ['/opt'],
      doc: 'What commands in bubblewrap may read beside `/usr` and the workspace: toolchains that live elsewhere. In Docker the image has them.',
    },
    inherit_env: {
      kind: 'text-list',
      default: ['LANG', 'LC_ALL', 'TZ'],
      doc: 'Variables of the host that commands get. Everything else is kept from them.',
    },
    docker: {
      kind: 'section',
      doc: 'The container.',
      extension: true,
      entries: {
        image: {
          kind: 'text',
          default: 'debian:bookworm-slim',
          doc: 'The image, which must be there: nothing is pulled. It needs `/bin/sh` and `stat`.',
        },
        user: {
          kind: 'text',
          default: '',
          doc: '`UID:GID` of commands. Empty takes the owner of the workspace, so that new files are theirs.',
        },
      },
    },
  },
} as const satisfies Section;

export type RunOptions = SettingsOf<typeof runSection>;
