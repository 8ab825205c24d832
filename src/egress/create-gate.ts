// Opens the gate of commands: a socket that accepts their connections and hands each to a `GateConnection`.
import {closeSync, constants, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync} from 'node:fs';
import {chmod, chown, mkdtemp, realpath, rm, writeFile} from 'node:fs/promises';
import {connect, createServer, type Socket} from 'node:net';
import {isAbsolute, join} from 'node:path';
import type {EgressChannel, EgressGate, EgressVisitor} from '../core/egress-gate.ts';
import {fail, ok, type Result} from '../core/result.ts';
import {errorCode} from '../system/errors.ts';
import {GateConnection, type GateDeps} from './gate-connection.ts';
import {type EgressLimits, MOST_AT_ONCE, Visit} from './visit.ts';

/** unix(7), with the name that `mkdtemp` makes and the socket in it. */
const MOST_PLACE_CHARS = 107 - '/forge-egress-XXXXXX/s'.length;
/** More than one read has: a smaller one stops the other side at every piece. */
const BUFFER_BYTES = 262_144;
/** With those that are refused and may still read why. Node closes what comes beyond, and nobody answers it. */
const MOST_SOCKETS = 2 * MOST_AT_ONCE;
/** Of connections that no command has spoken on yet. */
const BACKLOG = 128;

export interface GatePlan extends GateDeps {
  readonly limits: EgressLimits;
  /** Absolute directories for sockets, the best one first. Those of the workspace are left out. */
  readonly places: readonly string[];
  readonly workspace: string;
}

/** The host's end of the way out: it believes nothing that comes out of a sandbox (ruling X1). */
export function createGate(plan: GatePlan): EgressGate {
  const channels = new Set<EgressChannel>();
  const lookedAt = new Set<string>();
  const isBelow = (path: string, tree: string): boolean => path === tree || path.startsWith(`${tree}/`);
  const isUsable = (place: string): boolean =>
    place.length <= MOST_PLACE_CHARS && plan.workspace !== '/' && !isBelow(place, plan.workspace);
  return {
    endsTls: plan.credentialed !== undefined,
    open: async uid => {
      let problem = 'every directory for it lies in the workspace or has too long a name';
      for (const named of plan.places.filter(isAbsolute)) {
        try {
          // A command could put another socket in the place of ours where it sees it.
          const place = await realpath(named);
          if (!isUsable(place)) continue;
          if (!lookedAt.has(place)) await removeStaleChannels(place);
          lookedAt.add(place);
          const channel = await openChannel(place, uid, plan, closed => channels.delete(closed));
          channels.add(channel);
          return ok(channel);
        } catch (error) {
          if (errorCode(error) === undefined) throw error;
          problem = error instanceof Error ? error.message : String(error);
        }
      }
      return noPlace(problem);
    },
    close: async () => {
      await Promise.all([...channels].map(channel => channel.close()));
    },
  };
}

function noPlace(error: string): Result<never> {
  const remedy = 'set TMPDIR to a short path outside of the workspace that this user may write to.';
  return fail(
    'sandbox_error',
    `The socket of the way out could not be made. Nothing was run. To fix it: ${remedy}`,
    {
      error,
      remedy,
    },
  );
}

/** The directory is the sandbox user's alone; inside, nothing is mounted but what is in it. */
async function openChannel(
  place: string,
  uid: number | undefined,
  plan: GatePlan,
  onClosed: (channel: EgressChannel) => void,
): Promise<EgressChannel> {
  const directory = await mkdtemp(join(place, 'forge-egress-'));
  const socketPath = join(directory, CHANNEL_FILES.socket);
  const bundlePath = plan.credentialed && join(directory, CHANNEL_FILES.bundle);
  const sockets = new Set<Socket>();
  let visit: Visit | undefined;
  const server = createServer(
    {allowHalfOpen: true, pauseOnConnect: true, highWaterMark: BUFFER_BYTES},
    socket => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      // Nobody speaks for a sandbox that waits.
      if (visit === undefined) socket.destroy();
      else void new GateConnection(socket, visit, plan).run();
    },
  );
  server.maxConnections = MOST_SOCKETS;
  const remove = (): Promise<void> => rm(directory, {recursive: true, force: true});
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({path: socketPath, backlog: BACKLOG}, resolve);
    });
    server.on('error', () => {});
    // A sandbox that waits keeps no process alive.
    server.unref();
    await chmod(socketPath, 0o666);
    if (bundlePath !== undefined) {
      await writeFile(bundlePath, plan.credentialed?.bundle ?? '', {flag: 'wx'});
      await chmod(bundlePath, 0o644);
    }
    if (process.getuid?.() === 0 && uid !== undefined && uid !== 0) await chown(directory, uid, uid);
  } catch (error) {
    server.close();
    await remove();
    throw error;
  }
  const channel: EgressChannel = {
    socketPath,
    bundlePath,
    attach: (visitor: EgressVisitor) => {
      const mine = new Visit(visitor, plan.limits);
      visit = mine;
      return () => {
        if (visit === mine) visit = undefined;
        mine.close();
      };
    },
    close: async () => {
      visit?.close();
      visit = undefined;
      for (const socket of sockets) socket.destroy();
      await new Promise<void>(resolve => server.close(() => resolve()));
      onClosed(channel);
      await remove();
    },
  };
  return channel;
}

/** What `mkdtemp` makes of the prefix. */
const CHANNEL = /^forge-egress-[A-Za-z0-9]{6}$/;
/** What a channel's directory holds. */
export const CHANNEL_FILES = {socket: 's', bundle: 'ca.pem'} as const;
/** Of a place that another program filled. */
const MOST_LOOKED_AT = 1000;

/**
 * Review R14: the directories of hosts that were killed. One whose socket nobody listens on has no owner any more.
 * What lies in it is reached by a handle, so that a link in its place leads nowhere.
 */
export async function removeStaleChannels(place: string): Promise<void> {
  const names = quietly(() => readdirSync(place)) ?? [];
  for (const name of names.filter(one => CHANNEL.test(one)).slice(0, MOST_LOOKED_AT)) {
    const directory = join(place, name);
    const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
    const descriptor = quietly(() => openSync(directory, flags));
    if (descriptor === undefined) continue;
    try {
      const inside = `/proc/self/fd/${descriptor}`;
      const socket = join(inside, CHANNEL_FILES.socket);
      const isSocket = quietly(() => lstatSync(socket).isSocket()) === true;
      if (!isSocket || !(await isDead(socket))) continue;
      // The socket last: without it nobody could tell that the owner is dead.
      quietly(() => unlinkSync(join(inside, CHANNEL_FILES.bundle)));
      quietly(() => unlinkSync(socket));
      quietly(() => rmdirSync(directory));
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Only a refusal says so: a directory without a socket may be one that is being made. */
function isDead(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({path});
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', error => resolve(errorCode(error) === 'ECONNREFUSED'));
  });
}

/** Of another user, or gone meanwhile: left to its owner. */
function quietly<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
