import {type ChildProcess, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, onTestFinished} from 'vitest';
import {temporaryDirectory} from './temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));

/** A command in a process of its own. */
export interface Worker {
  readonly child: ChildProcess;
  /** Its exit code; null where it was killed. */
  readonly ended: Promise<number | null>;
  output: string;
}

export interface CrawlFleet {
  readonly cwd: string;
  readonly urls: readonly string[];
  /** The configuration file for an address of the engine. */
  readonly configOf: (engine: string) => string;
  /** Runs `crawl ARGS` to its end. `engine` is the address of the engine, or of a proxy before it. */
  readonly run: (
    args: readonly string[],
    engine?: string,
  ) => Promise<{readonly code: number | null; readonly output: string}>;
  /** Starts a worker whose results are in `results/NAME`, with a clock that is wrong. */
  readonly work: (name: string, engine?: string, skewHours?: number) => Worker;
  readonly status: () => Promise<Record<string, number> & {state: string; hosts: Record<string, number>}>;
  /** What is in the results of these workers. */
  readonly exported: (
    names: readonly string[],
  ) => Promise<readonly {readonly url: string; readonly status: string}[]>;
}

export interface FleetOptions {
  readonly urls: readonly string[];
  /** Of the origin. */
  readonly port: number;
  /** The engine's own address. */
  readonly engine: string;
  /** Pages at the same time, of one worker. */
  readonly atOnce: number;
}

/** A list in a directory of its own, and the built command line for one job. */
export function openCrawlFleet({urls, port, engine: direct, atOnce}: FleetOptions): CrawlFleet {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'urls.txt'), `${urls.join('\n')}\n`);
  mkdirSync(join(cwd, 'results'));
  const configOf = (engine: string): string => writeConfig(cwd, engine, port);
  const start = (args: readonly string[], engine: string, node: readonly string[] = []): Worker => {
    const flags = ['--job', 'fleet', '--config', configOf(engine), '--log-level', 'silent'];
    const child = spawn(process.execPath, [...node, MAIN, 'crawl', ...args, ...flags], {
      cwd,
      env: {PATH: process.env['PATH'], HOME: process.env['HOME']},
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const worker: Worker = {
      child,
      output: '',
      ended: new Promise(resolve => child.on('close', code => resolve(code))),
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (part: Buffer) => {
        worker.output += part.toString();
      });
    }
    return worker;
  };
  const run: CrawlFleet['run'] = async (args, engine = direct) => {
    const worker = start(args, engine);
    return {code: await worker.ended, output: worker.output};
  };
  return {
    cwd,
    urls,
    configOf,
    run,
    work(name, engine = direct, skewHours = 0) {
      const skew = join(cwd, `skew-${skewHours}.cjs`);
      writeFileSync(skew, `const now = Date.now; Date.now = () => now() + ${skewHours * 3_600_000};\n`);
      const args = ['work', '--out', join('results', name), '--concurrency', String(atOnce)];
      return start(args, engine, ['--require', skew]);
    },
    async status() {
      const {output} = await run(['status', '--json']);
      return JSON.parse(output.trim().split('\n').at(-1) ?? '');
    },
    async exported(names) {
      const directories = names.map(name => join('results', name));
      const {code, output} = await run(['export', ...directories, '--to', 'all.jsonl']);
      expect(code, output).toBe(0);
      return readFileSync(join(cwd, 'all.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line));
    },
  };
}

function writeConfig(cwd: string, engine: string, port: number): string {
  const path = join(cwd, `${engine.replace(/\W+/g, '-')}.toml`);
  writeFileSync(
    path,
    `[tools.hub]
url = "${engine}"
host_gap_ms = 0
max_per_host = 64
[tools.webfetch]
cache_dir = ""
[tools.webfetch.security]
allow_insecure_overrides = true
block_loopback = false
allowed_ports = [${port}]
`,
  );
  return path;
}
