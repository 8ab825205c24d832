import {cpSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {expect} from 'vitest';
import {type RedisEngine, redisCommand, startRedis} from './redis-engine.ts';

/** A primary that keeps its data, and a replica that may take its place. */
export interface EnginePair {
  /** Of the primary, which changes with a failover. */
  readonly port: () => number;
  /** Killed and started again, with all its data. */
  readonly restart: () => Promise<void>;
  /** Remembers what the primary has now. */
  readonly keep: () => void;
  /** Killed and started again, with what it had at the last `keep`. */
  readonly restartWithLoss: () => Promise<void>;
  readonly flush: () => Promise<void>;
  /** The primary is killed, the replica takes its place, and the killed one is its replica from then on. */
  readonly failOver: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const KEPT = ['--appendonly', 'yes', '--appendfsync', 'always', '--repl-diskless-sync-delay', '0'];

export async function startEnginePair(): Promise<EnginePair> {
  let primary = await startRedis(...KEPT);
  let replica = await startRedis(...KEPT);
  let isKept = false;
  const log = ({directory}: RedisEngine): string => join(directory, 'appendonlydir');
  const copy = ({directory}: RedisEngine): string => join(directory, 'kept');
  const follow = async (): Promise<void> => {
    await redisCommand(replica.port, 'REPLICAOF', '127.0.0.1', String(primary.port));
  };
  /** A replica that is still being filled would lose everything, and not a moment. */
  const inStep = (): Promise<void> =>
    expect
      .poll(() => redisCommand(replica.port, 'INFO', 'replication'), {timeout: 20_000, interval: 20})
      .toMatch(/master_link_status:up[\s\S]*master_sync_in_progress:0/);
  await follow();
  await inStep();
  return {
    port: () => primary.port,
    async restart() {
      await primary.kill();
      await primary.start();
    },
    keep() {
      rmSync(copy(primary), {recursive: true, force: true});
      // What is cut off at its end is left out when it is read.
      cpSync(log(primary), copy(primary), {recursive: true});
      isKept = true;
    },
    async restartWithLoss() {
      await primary.kill();
      if (isKept) {
        rmSync(log(primary), {recursive: true, force: true});
        cpSync(copy(primary), log(primary), {recursive: true});
      }
      await primary.start();
    },
    async flush() {
      await redisCommand(primary.port, 'FLUSHALL');
    },
    async failOver() {
      await inStep();
      await redisCommand(replica.port, 'REPLICAOF', 'NO', 'ONE');
      await primary.kill();
      [primary, replica] = [replica, primary];
      isKept = false;
      await replica.start();
      await follow();
    },
    async stop() {
      await Promise.all([primary.stop(), replica.stop()]);
    },
  };
}
