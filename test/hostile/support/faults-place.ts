import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import type {Environment} from '../../../src/config/environment.ts';
import {createToolbox, type LogEvent, type Toolbox} from '../../../src/index.ts';

/** Path → content of all files below a directory. */
export type Tree = Readonly<Record<string, string>>;

/** One toolbox with a workspace, a run, a state, a cache and a temporary directory of its own. */
export interface FaultPlace {
  readonly toolbox: Toolbox;
  readonly base: string;
  readonly workspace: string;
  readonly runDirectory: string;
  readonly origin: string;
  readonly environment: Environment;
  /** Another one over the same directories, as after a restart; the run directory is a new one. */
  readonly reopen: () => FaultPlace;
  readonly remove: () => void;
}

export interface FaultPlaceOptions {
  readonly files: Tree;
  /** Of the web server, by a name that `resolve` knows. */
  readonly origin: string;
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly sandbox: 'none' | 'bubblewrap';
  readonly log: (event: LogEvent) => void;
}

export function openFaultPlace({files, ...options}: FaultPlaceOptions): FaultPlace {
  const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'forge-faults-'));
  const workspace = join(base, 'work');
  for (const name of ['work', 'tmp', 'home']) mkdirSync(join(base, name));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), {recursive: true});
    writeFileSync(join(workspace, path), content);
  }
  return openAt(base, 'run', options);
}

function openAt(base: string, run: string, options: Omit<FaultPlaceOptions, 'files'>): FaultPlace {
  const {origin, resolve, sandbox, log} = options;
  const workspace = join(base, 'work');
  const runDirectory = join(base, run);
  const environment: Environment = {
    env: {PATH: process.env['PATH'], TMPDIR: join(base, 'tmp')},
    cwd: base,
    tempDir: join(base, 'tmp'),
    homeDir: join(base, 'home'),
  };
  const toolbox = createToolbox({
    workspace,
    runDirectory,
    environment,
    resolver: {resolve},
    log,
    config: {
      tools: {
        mode: 'enabled',
        approval: {mode: 'auto'},
        run: {sandbox, allow_insecure_none: sandbox === 'none'},
        webfetch: {
          enabled: true,
          cache_dir: join(base, 'cache'),
          timeout_seconds: 5,
          browser: {enabled: false},
          security: {
            block_loopback: false,
            allow_insecure_overrides: true,
            allowed_ports: [Number(new URL(origin).port)],
          },
        },
      },
    },
  });
  return {
    toolbox,
    base,
    workspace,
    runDirectory,
    origin,
    environment,
    reopen: () => openAt(base, `${run}-again`, options),
    remove: () => rmSync(base, {recursive: true, force: true}),
  };
}

export function readTree(root: string): Tree {
  return Object.fromEntries(
    readdirSync(root, {recursive: true, withFileTypes: true})
      .filter(entry => !entry.isDirectory())
      .map(entry => join(entry.parentPath, entry.name))
      .sort()
      .map(path => [path.slice(root.length + 1), readFileSync(path, 'utf8')]),
  );
}
