import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {connect} from 'node:net';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {expect, onTestFinished} from 'vitest';
import {freePort} from './free-port.ts';
import {program} from './parts.ts';
import {temporaryDirectory} from './temporary-directory.ts';

/** Where a replica listens. */
export interface Backend {
  readonly port: number;
}

export interface Balancer {
  readonly port: number;
  /** Replicas that were ready when HAProxy last asked them. */
  readonly ready: () => Promise<number>;
}

/** HAProxy with `settings`, the example's: where it listens and what it asks are put in for what Docker's names say. */
export async function startBalancer(settings: string, backends: readonly Backend[]): Promise<Balancer> {
  const port = await freePort();
  const directory = temporaryDirectory();
  const stats = join(directory, 'stats');
  const servers = backends.map((backend, at) => `    server replica${at + 1} 127.0.0.1:${backend.port}`);
  const file = join(directory, 'haproxy.cfg');
  const replaced = [
    ['    maxconn 4096', `    maxconn 4096\n    stats socket ${stats}`],
    ['    bind :8930', `    bind 127.0.0.1:${port}`],
    ['    server-template replica 3 replica:8931', servers.join('\n')],
  ] as const;
  let config = settings;
  for (const [line, other] of replaced) {
    expect(config.split('\n')).toContain(line);
    config = config.replace(line, other);
  }
  writeFileSync(file, config);
  const child = spawn(program('haproxy'), ['-db', '-f', file], {stdio: ['ignore', 'ignore', 'pipe']});
  const ended = new Promise(resolve => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let said = '';
  child.stderr.on('data', chunk => {
    said = `${said}${chunk}`.slice(-4000);
  });
  const ready = async (): Promise<number> => {
    const socket = connect(stats);
    socket.end('show stat\n');
    const rows = (await text(socket)).split('\n').map(row => row.split(','));
    const status = rows[0]?.indexOf('status') ?? -1;
    return rows.filter(row => row[1]?.startsWith('replica') && row[status] === 'UP').length;
  };
  await expect.poll(() => ready().catch(() => said), {timeout: 10_000}).toBe(backends.length);
  return {port, ready};
}
