// The settings of `[tools.run]`.
import {
  choice,
  flag,
  integer,
  own,
  path,
  type SettingsOf,
  section,
  tableList,
  text,
  textList,
} from '../core/setting.ts';

/** Ruling W8: `[tools.run]`. */
// biome-ignore format: a setting is a line
export const runSection = own(section('Running commands in a sandbox.', {
  enabled: flag(true, 'Offer `run` to agents, if `tools.mode` is `"enabled"`.'),
  sandbox: choice(['auto', 'docker', 'bubblewrap', 'none'], '`auto` takes Docker if daemon and image are there, else bubblewrap, else nothing runs. `none` runs commands as the host user and needs `allow_insecure_none`.'),
  allow_insecure_none: flag(false, 'Must be true for `sandbox = "none"`. Commands then reach every file and network of the host.'),
  git: choice(['read-only', 'commit'], 'Rights in `.git`. `commit` lets commands write objects, refs, index and logs. `HEAD`, hooks and configuration stay read-only.'),
  isolation: choice(['session', 'fresh'], 'With Docker: one container for a session, or a new one for each command. bubblewrap is always fresh.'),
  timeout_seconds: integer(120, [1, 3600, 's'], 'Wall time of a command that gives no `timeout_sec`.'),
  max_timeout_seconds: integer(600, [1, 86_400, 's'], 'Largest `timeout_sec` that a call may give.'),
  background: own(section('Commands that outlive their call (`run` with `background`). All end with the session.', {
    max_commands: integer(4, [0, 64], 'Background commands at the same time. 0 allows none.'),
    max_life_seconds: integer(3600, [1, 86_400, 's'], 'Longest wall time of each. A `timeout_sec` can shorten it.'),
  })),
  egress: own(section('Hosts that commands in a sandbox may reach. With `allow` and `presets` empty, commands have no network. `sandbox = "none"` has the host\'s network.', {
    allow: textList([], 'Hosts: `packages.example.com` and `*.example.org:8443` by TLS, `http://deb.example.com` by plain HTTP (GET and HEAD). `*.` stands for every host below a name.'),
    presets: textList([], 'Lists of hosts: `npm`, `pypi`, `crates`, `debian`, `github`.'),
    credentials: tableList(['host'], 'A secret that the gate adds to requests for one host of `allow`; commands never see it. The gate ends the TLS of commands for that host, with an authority made for the session.', {
      host: text('', 'The host, with a port unless it is 443: `npm.example.com`, `git.example.com:8443`. No wildcards.'),
      header: text('Authorization', 'The header that carries it.'),
      prefix: text('', 'Written before the secret: `"Bearer "`, `"Basic "`.'),
      env: text('', "The host's environment variable with the secret. Not one of `inherit_env`."),
      file: path('', 'The file that holds the secret, outside of the workspace; a line break at its end is left out. Either this or `env`.'),
    }),
    max_connections: integer(1000, [1, 100_000], 'Connections of one command, refused ones included. 64 may be open at the same time.'),
    max_mb: integer(1024, [1, 1_048_576, 'MiB'], 'Total size that one command may send and receive.'),
    max_connection_sec: integer(600, [1, 86_400, 's'], 'How long one connection may last.'),
  })),
  memory_mb: integer(2048, [64, 1_048_576, 'MiB'], 'Memory of all processes of a command together, with swap and temporary files. For bubblewrap without a control group, of each process.'),
  tmp_mb: integer(512, [1, 1_048_576, 'MiB'], 'Size of `/tmp`, which is in memory.'),
  max_processes: integer(512, [16, 32_768], 'Processes and threads at a time.'),
  cpus: integer(2, [1, 1024], 'Processor time per second of wall time. Needs Docker or a control group.'),
  open_files: integer(4096, [64, 1_048_576], 'Open files of each process.'),
  kept_output_mb: integer(256, [64, 1_048_576, 'MiB'], 'Long outputs kept for `read_output` in a session, at most 16 MiB of a stream. The oldest go first.'),
  path: text('/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', "`PATH` inside bubblewrap. Docker uses the image's."),
  readable_paths: textList(['/opt'], 'Directories that commands in bubblewrap may read besides `/usr` and the workspace, such as toolchains. In Docker the image has them.'),
  inherit_env: textList(['LANG', 'LC_ALL', 'TZ'], 'Host variables that commands get. They get no others.'),
  docker: own(section('The container.', {
    image: text('debian:bookworm-slim', 'The image. It must exist, because nothing is pulled. It needs `/bin/sh` and `stat`.'),
    user: text('', '`UID:GID` of commands. Empty takes the owner of the workspace.'),
  })),
}));

export type RunOptions = SettingsOf<typeof runSection>;
