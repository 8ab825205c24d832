import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {connect} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {HubSettings} from '../../src/hub/options.ts';
import {hubSection} from '../../src/hub/options.ts';
import {freePort} from './free-port.ts';
import {program} from './parts.ts';

/** A server of the test's own, on a free port of loopback. Nothing of it is kept. */
export interface RedisEngine {
  readonly port: number;
  /** Where it keeps its data, if it does. */
  readonly directory: string;
  readonly url: string;
  /** SIGKILL: what it held is gone. */
  readonly kill: () => Promise<void>;
  /** Again on the same port, empty. */
  readonly start: () => Promise<void>;
  /** SIGSTOP and SIGCONT: connections stand, and nothing is answered. */
  readonly pause: () => void;
  readonly goOn: () => void;
  readonly stop: () => Promise<void>;
}

export async function startRedis(...options: readonly string[]): Promise<RedisEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'hub-engine-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const started = spawn(
      program('redis-server'),
      [
        ...['--port', options.includes('--tls-port') ? '0' : String(port), '--bind', '127.0.0.1'],
        ...['--save', '', '--appendonly', 'no', '--dir', directory, '--maxmemory-policy', 'noeviction'],
        // What has to name the same port that is free here.
        ...options.map(option => option.replaceAll('PORT', String(port))),
      ],
      {stdio: ['ignore', 'pipe', 'pipe']},
    );
    child = started;
    let printed = '';
    await new Promise<void>((resolve, reject) => {
      started.once('error', reject);
      started.once('exit', code => reject(new Error(`redis-server ended with ${code}: ${printed}`)));
      started.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (/Ready to accept connections/.test(printed)) resolve();
      });
    });
  };
  const kill = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const ended = new Promise(resolve => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    port,
    directory,
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
    stop: async () => {
      await kill();
      await rm(directory, {recursive: true, force: true});
    },
  };
}

/** What no script may do, by a connection of its own. */
export async function redisCommand(port: number, ...words: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${words.join(' ')}\r\n`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer);
}

/** The defaults of `tools.hub`, and what a test says otherwise. */
export function hubSettings(given: Partial<HubSettings>): HubSettings {
  const {entries} = hubSection;
  const defaults = Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, entry.default]));
  return {...(defaults as unknown as HubSettings), ...given};
}
