import {fail} from '../core/failure/fail.ts';
import {ok, type Result} from '../core/result.ts';
import type {EngineAddress} from './engine-address.ts';
import type {HubValue} from './hub-value.ts';

type Command = readonly (string | Buffer)[];

/** One connection, from `connect` to its end. It is never opened again. */
export interface RedisClient {
  readonly connect: () => Promise<unknown>;
  readonly send: (command: Command) => Promise<HubValue>;
  readonly sendForBytes: (command: Command) => Promise<HubValue<Buffer>>;
  readonly subscribe: (channel: string, listener: (message: string) => void) => Promise<void>;
  readonly unsubscribe: (channel: string) => Promise<void>;
  readonly destroy: () => void;
}

export interface ClientTerms {
  readonly connectTimeoutMs: number;
  /** Commands that may wait for their answers. */
  readonly queue: number;
  readonly pingMs: number;
  readonly onEnd: (reason: string) => void;
}

export interface Redis {
  readonly create: (address: EngineAddress, terms: ClientTerms) => RedisClient;
}

/** The package is the operator's to install: who shares nothing does without it. */
export async function loadRedis(): Promise<Result<Redis>> {
  let library: typeof import('@redis/client');
  try {
    library = await import('@redis/client');
  } catch {
    return fail(
      'hub_unavailable',
      'tools.hub.url needs the package "@redis/client". Install it beside forge-tools.',
      {error: 'package_missing'},
      {retryable: false},
    );
  }
  const {createClient, RESP_TYPES} = library;
  return ok({
    create(address, {connectTimeoutMs, queue, pingMs, onEnd}) {
      const {username, host, port, socket: path, tls, database, authorities} = address;
      const password = address.password();
      // A connection that is lost is over: who reconnects, when, and what holds then is the connection's to say.
      const common = {connectTimeout: connectTimeoutMs, reconnectStrategy: false} as const;
      const client = createClient({
        RESP: 3,
        socket:
          path !== undefined
            ? {...common, path, tls: false}
            : tls
              ? {
                  ...common,
                  host,
                  port,
                  tls: true,
                  rejectUnauthorized: true,
                  ...(authorities !== undefined && {ca: authorities}),
                }
              : {...common, host, port},
        database,
        commandsQueueMaxLength: queue,
        disableOfflineQueue: true,
        pingInterval: pingMs,
        // Nothing that the server pushes moves the connection elsewhere.
        maintNotifications: 'disabled',
        ...(username !== undefined && {username}),
        ...(password !== undefined && {password}),
      });
      let reason = 'connection_lost';
      client.on('error', (error: unknown) => {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (typeof code === 'string') reason = code;
        onEnd(reason);
      });
      client.on('end', () => onEnd(reason));
      const asBytes = {typeMapping: {[RESP_TYPES.BLOB_STRING]: Buffer}};
      return {
        connect: () => client.connect(),
        send: command => client.sendCommand<HubValue>(command),
        sendForBytes: command => client.sendCommand<HubValue<Buffer>>(command, asBytes),
        subscribe: (channel, listener) => client.subscribe(channel, message => listener(message)),
        unsubscribe: channel => client.unsubscribe(channel),
        destroy: () => {
          // It throws where the connection is over already.
          if (client.isOpen) client.destroy();
        },
      };
    },
  });
}
