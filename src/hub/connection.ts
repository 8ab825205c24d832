// Keeps a connection to the shared server. It runs scripts, listens to channels and connects again when the
// connection is lost.
import {createHash} from 'node:crypto';
import {type Clock, randomHex} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import {type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import {type EngineAddress, readAddress} from './engine-address.ts';
import type {HubSettings} from './options.ts';
import {
  type HubArgument,
  type HubScript,
  type HubValue,
  loadRedis,
  type Redis,
  type RedisClient,
  type RunOptions,
  type RunScript,
} from './redis-client.ts';

export type {HubArgument, HubScript, HubValue, RunOptions};

export interface HubConnection {
  /** EVALSHA with EVAL as fallback; fails with `hub_unavailable` (retryable), never throws. */
  readonly run: RunScript<string>;
  /** The same, with bulk strings as bytes. */
  readonly runBuffers: RunScript<Buffer>;
  /** A key in the hub's name space: `key('g', 'h', host)` → `fw1:{g}:h:host`. Keys with one tag lie together. */
  readonly key: (tag: string, ...parts: readonly string[]) => string;
  /** Hears what is published while the connection stands. The returned function ends it. */
  readonly subscribe: (channel: string, listener: (message: string) => void) => Promise<() => Promise<void>>;
  readonly close: () => Promise<void>;
}

export interface HubDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

const NAMESPACE = 'fw1';
const COMMAND_TIMEOUT_MS = 5000;
const CONNECT_TIMEOUT_MS = 2000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** Commands that wait for their answer. */
const QUEUE = 10_000;
const PING_MS = 2000;

/**
 * Fails where the settings cannot be used or the package is missing. An engine that cannot be reached is no failure
 * here: `run` says so, and one goes on trying, with pauses that grow and are not those of other replicas.
 */
export async function openHubConnection(
  settings: HubSettings,
  deps: HubDeps,
): Promise<Result<HubConnection, Failure>> {
  const address = readAddress(settings, deps.env);
  if (!address.ok)
    return fail('hub_unavailable', address.error.join(' '), {error: 'settings'}, {retryable: false});
  const redis = await loadRedis();
  if (!redis.ok) return redis;
  const connection = new EngineConnection(redis.value, address.value, deps);
  await connection.open();
  return ok(connection);
}

type Listener = (message: string) => void;

class EngineConnection implements HubConnection {
  readonly #redis: Redis;
  readonly #address: EngineAddress;
  readonly #deps: HubDeps;
  readonly #digests = new Map<string, string>();
  readonly #channels = new Map<string, Set<Listener>>();
  #client: RedisClient | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #closed = false;
  #wasReported = false;
  #lastError = 'not_connected';
  #cancelTimer: () => void = () => {};
  #connecting: Promise<void> = Promise.resolve();
  #wakeOpener: () => void = () => {};

  readonly run: RunScript<string> = (script, keys, args, options) =>
    this.#run<string>(script, keys, args, options, (client, command) => client.send(command));
  readonly runBuffers: RunScript<Buffer> = (script, keys, args, options) =>
    this.#run<Buffer>(script, keys, args, options, (client, command) => client.sendForBytes(command));

  constructor(redis: Redis, address: EngineAddress, deps: HubDeps) {
    this.#redis = redis;
    this.#address = address;
    this.#deps = deps;
  }

  /** Waits for the first try, however it goes. */
  async open(): Promise<void> {
    const opened = new Promise<void>(resolve => {
      this.#wakeOpener = resolve;
    });
    this.#connect();
    await opened;
  }

  key(tag: string, ...parts: readonly string[]): string {
    return [NAMESPACE, `{${tag}}`, ...parts].join(':');
  }

  async subscribe(channel: string, listener: Listener): Promise<() => Promise<void>> {
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners);
    const isFirst = listeners.size === 0;
    listeners.add(listener);
    if (isFirst) await this.#subscribe(this.#client, channel);
    return async () => {
      if (!listeners.delete(listener) || listeners.size > 0 || this.#channels.get(channel) !== listeners)
        return;
      this.#channels.delete(channel);
      await this.#client?.unsubscribe(channel).catch(() => {});
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    this.#wakeOpener();
    this.#drop(this.#client);
    await this.#connecting;
  }

  async #run<Bulk>(
    script: HubScript,
    keys: readonly string[],
    args: readonly HubArgument[],
    {timeoutMs = COMMAND_TIMEOUT_MS}: RunOptions = {},
    send: (client: RedisClient, command: readonly (string | Buffer)[]) => Promise<HubValue<Bulk>>,
  ): Promise<Result<HubValue<Bulk>>> {
    const client = this.#client;
    if (client === undefined) return this.#unavailable(script.name, this.#lastError);
    const rest = [
      String(keys.length),
      ...keys,
      ...args.map(arg => (Buffer.isBuffer(arg) ? arg : String(arg))),
    ];
    const evaluate = async (): Promise<HubValue<Bulk>> => {
      try {
        return await send(client, ['EVALSHA', this.#digestOf(script), ...rest]);
      } catch (error) {
        if (!isMissingScript(error)) throw error;
        return send(client, ['EVAL', script.lua, ...rest]);
      }
    };
    let cancel: () => void = () => {};
    const late = new Promise<'late'>(resolve => {
      cancel = this.#deps.clock.after(timeoutMs, () => resolve('late'));
    });
    try {
      const answer = await Promise.race([evaluate().then(value => ({value})), late]);
      if (answer !== 'late') return ok(answer.value);
      // Half-open, or stopped: what waits behind this command would wait as long.
      if (timeoutMs >= COMMAND_TIMEOUT_MS) this.#lost(client, 'timeout');
      return this.#unavailable(script.name, 'timeout');
    } catch (error) {
      const reason = reasonOf(error);
      // After a failover the old primary still answers, but changes nothing any more.
      if (GONE.test(reason)) this.#lost(client, reason);
      return this.#unavailable(script.name, reason);
    } finally {
      cancel();
    }
  }

  #digestOf({lua}: HubScript): string {
    const known = this.#digests.get(lua);
    if (known !== undefined) return known;
    const digest = createHash('sha1').update(lua).digest('hex');
    this.#digests.set(lua, digest);
    return digest;
  }

  #connect(): void {
    if (this.#closed) return;
    const client = this.#redis.create(this.#address, {
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      queue: QUEUE,
      pingMs: PING_MS,
      onEnd: reason => this.#lost(client, reason),
    });
    this.#connecting = this.#start(client);
  }

  async #start(client: RedisClient): Promise<void> {
    let cancel: () => void = () => {};
    try {
      // The greeting, with password and protocol, is a part of it that a silent peer never ends.
      const late = new Promise<never>((_, reject) => {
        cancel = this.#deps.clock.after(2 * CONNECT_TIMEOUT_MS, () => reject(new Error('timeout')));
      });
      await Promise.race([this.#greet(client), late]);
    } catch (error) {
      this.#drop(client);
      this.#retry(reasonOf(error));
      return;
    } finally {
      cancel();
    }
    if (this.#closed) return this.#drop(client);
    this.#client = client;
    this.#pauseMs = FIRST_PAUSE_MS;
    if (this.#wasReported)
      this.#deps.log({level: 'info', event: 'hub_connected', message: 'The hub is there again.'});
    this.#wasReported = false;
    await Promise.all(Array.from(this.#channels.keys(), channel => this.#subscribe(client, channel)));
    this.#wakeOpener();
  }

  /** Nothing is asked of an engine before it is noted which one it is. */
  async #greet(client: RedisClient): Promise<void> {
    await client.connect();
    // A managed service may refuse INFO.
    const info = await client.send(['INFO', 'server']).catch(() => undefined);
    const {runId} = readIdentity(info);
    await client.send(['EVAL', NOTE_EPOCH.lua, '1', this.key('g', 'epoch'), runId]);
  }

  async #subscribe(client: RedisClient | undefined, channel: string): Promise<void> {
    const hear = (message: string): void => {
      for (const listener of this.#channels.get(channel) ?? []) listener(message);
    };
    // Whoever is not heard because the connection is lost is subscribed again with the next one.
    await client?.subscribe(channel, hear).catch(() => {});
  }

  #lost(client: RedisClient, reason: string): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#drop(client);
    this.#retry(reason);
  }

  #drop(client: RedisClient | undefined): void {
    if (client !== undefined && this.#client === client) this.#client = undefined;
    client?.destroy();
  }

  #retry(reason: string): void {
    this.#lastError = reason;
    this.#wakeOpener();
    if (this.#closed) return;
    if (!this.#wasReported) {
      this.#wasReported = true;
      this.#deps.log({
        level: 'warn',
        event: 'hub_unavailable',
        message: `The hub at ${this.#address.shown} cannot be reached (${reason}). It is tried again.`,
        error_code: 'hub_unavailable',
      });
    }
    const pause = this.#pauseMs;
    this.#pauseMs = Math.min(2 * pause, LONGEST_PAUSE_MS);
    this.#cancelTimer = this.#deps.clock.after(pause / 2 + jitter(pause / 2), () => this.#connect());
  }

  #unavailable(operation: string, error: string): Err<Failure> {
    return fail(
      'hub_unavailable',
      `The hub at ${this.#address.shown} did not answer (${error}). Retry, and look at its state with "forge-tools doctor".`,
      {error, operation},
    );
  }
}

/** Words that say that this connection is of no more use: it is lost, or leads to an engine that may not change anything. */
const GONE = /^(?:READONLY|LOADING|MASTERDOWN|NOAUTH|connection_lost|E[A-Z]{4,}|NR_CLOSED)$/;

function jitter(most: number): number {
  return (Number.parseInt(randomHex(2), 16) / 0x1_00_00) * most;
}

function isMissingScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** The engine's word for it, such as `ECONNREFUSED`, `WRONGPASS` or `READONLY`: never its text, which is a stranger's. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const {code} = error as Error & {readonly code?: unknown};
  if (typeof code === 'string' && /^[A-Z_0-9]{2,60}$/.test(code)) return code;
  // Too much at once is no fault of the connection.
  if (/queue is full/i.test(error.message)) return 'queue_full';
  const [word = ''] = error.message.split(' ', 1);
  return /^-?[A-Z]{3,20}$/.test(word) ? word : error.message === 'timeout' ? 'timeout' : 'connection_lost';
}

/** What is known of the engine from `INFO server`: a word of a stranger, cut to what it may be. */
export interface EngineIdentity {
  readonly runId: string;
  readonly version: string;
}

export function readIdentity(info: unknown): EngineIdentity {
  const text = typeof info === 'string' ? info.slice(0, 100_000) : '';
  const versionOf = (name: 'redis' | 'valkey'): string | undefined =>
    new RegExp(`^${name}_version:(\\d{1,5}(?:\\.\\d{1,5}){0,3})\\r?$`, 'im').exec(text)?.[1];
  return {
    runId: /^run_id:([0-9a-z]{1,64})\r?$/im.exec(text)?.[1] ?? 'unknown',
    // Valkey also says the version of Redis whose clients it serves, and says it first.
    version: versionOf('valkey') ?? versionOf('redis') ?? 'unknown',
  };
}

/**
 * Notes which engine answers, before anything else is asked of it. Another one, and one that has lost its data, may
 * have forgotten the last second: from then on every host waits for one gap (see `ENTER`).
 */
export const NOTE_EPOCH: HubScript = {
  name: 'epoch',
  lua: `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if redis.call('HGET', KEYS[1], 'id') == ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'id', ARGV[1], 'at', string.format('%.0f', now))
return 1`,
};
