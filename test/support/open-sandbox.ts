import {chownSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {resolveSection} from '../../src/config/resolve-config.ts';
import {systemClock} from '../../src/core/clock.ts';
import type {EgressGate} from '../../src/core/egress-gate.ts';
import type {LogEvent} from '../../src/core/log.ts';
import {createSandbox} from '../../src/sandbox/create-sandbox.ts';
import {type RunOptions, runSection} from '../../src/sandbox/options.ts';
import type {ExitStatus, Sandbox, SandboxKind} from '../../src/sandbox/sandbox.ts';
import {unwrap} from './outcome.ts';

export type SandboxSettings = Partial<Omit<RunOptions, 'docker'>>;

/** Of the whole run: where sessions say that they are there. */
export const SESSIONS = join(tmpdir(), 'sessions');

export interface RunOutcome {
  readonly exitStatus: ExitStatus;
  readonly out: string;
  readonly err: string;
  readonly outBytes: Uint8Array;
  readonly totalOut: number;
  readonly leftRunning: readonly string[];
  readonly sandbox: SandboxKind;
}

export interface OpenSandbox {
  readonly sandbox: Sandbox;
  readonly workspace: string;
  readonly log: readonly LogEvent[];
  readonly run: (
    command: string,
    options?: {
      readonly env?: Record<string, string>;
      readonly directory?: string;
      readonly timeoutMs?: number;
      readonly signal?: AbortSignal;
    },
  ) => Promise<RunOutcome>;
  readonly close: () => Promise<void>;
}

export interface SandboxPlace {
  readonly settings?: SandboxSettings;
  /** Owner of the workspace, where the tests run as root. */
  readonly owner?: number;
  readonly protectedPaths?: (workspace: string) => readonly string[];
  readonly env?: Record<string, string>;
  /** Default: a new one, which goes at the end. */
  readonly workspace?: string;
  /** Instead of those of the system. */
  readonly programDirectories?: readonly string[];
  readonly prepare?: (workspace: string) => void;
  /** Default: this one. */
  readonly machine?: {readonly platform: string; readonly arch: string};
  /** Default: no way out. */
  readonly egress?: EgressGate;
}

/** The defaults of the options, with small limits. */
export function runOptions(settings: SandboxSettings = {}): RunOptions {
  return {
    ...resolveSection(runSection, {}, {env: {}, cwd: '/', tempDir: '/tmp'}, {warnings: [], problems: []}),
    memory_mb: 256,
    max_processes: 128,
    docker: {image: process.env['FORGE_TEST_DOCKER_IMAGE'] ?? '', user: ''},
    ...settings,
  };
}

export function openSandbox({
  settings,
  owner,
  protectedPaths = () => [],
  env = {},
  programDirectories,
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'forge-sandbox-'))),
  prepare = () => {},
  machine,
  egress,
}: SandboxPlace): OpenSandbox {
  prepare(workspace);
  if (owner !== undefined && process.getuid?.() === 0) giveTo(workspace, owner);
  const log: LogEvent[] = [];
  const sandbox = createSandbox(runOptions(settings), {
    workspace,
    protectedPaths: protectedPaths(workspace),
    sessions: SESSIONS,
    env: {...process.env, DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST'], ...env},
    programDirectories,
    clock: systemClock,
    log: event => log.push(event),
    machine,
    egress,
  });
  return {
    sandbox,
    workspace,
    log,
    run: async (command, {env: variables = {}, directory, timeoutMs = 20_000, signal} = {}) => {
      const ran = unwrap(
        await sandbox.run({
          command,
          env: variables,
          directory,
          timeoutMs,
          signal: signal ?? new AbortController().signal,
        }),
      );
      return {
        exitStatus: ran.exitStatus,
        out: Buffer.from(ran.stdout.bytes).toString(),
        err: Buffer.from(ran.stderr.bytes).toString(),
        outBytes: ran.stdout.bytes,
        totalOut: ran.stdout.totalBytes,
        leftRunning: ran.leftRunning,
        sandbox: ran.sandbox,
      };
    },
    close: async () => {
      await sandbox.close();
      rmSync(workspace, {recursive: true, force: true});
    },
  };
}

function giveTo(path: string, owner: number): void {
  chownSync(path, owner, owner);
  for (const entry of readdirSync(path, {recursive: true}))
    chownSync(join(path, String(entry)), owner, owner);
}

/** Processes of this machine, those in containers too, that have the text in their arguments. */
export function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry) && entry !== String(process.pid))
    .filter(entry => {
      try {
        return readFileSync(`/proc/${entry}/cmdline`, 'latin1').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** A number of seconds that nobody else sleeps. */
export function uniqueSleep(): string {
  return `600.${process.pid}${String(Math.random()).slice(2, 12)}`;
}
