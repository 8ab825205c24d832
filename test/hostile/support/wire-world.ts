import {readdirSync, readlinkSync} from 'node:fs';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {createToolbox, type Toolbox} from '../../../src/index.ts';
import type {Certificate} from '../../support/certificates.ts';
import {type Behaviour, FOLLOWED, MAX_BYTES, MESSAGES, PLACES, type Place} from './wire-behaviours.ts';
import {startWireServer, type WireConnection, type WireServer} from './wire-server.ts';

/** What a call came to, and how. */
export interface Outcome {
  /** `ok: TEXT`, or `code/detail`. */
  readonly said: string;
  readonly elapsedMs: number;
  /** No connection was left open but one whose answer was complete. */
  readonly hungUp: boolean;
  /** The most that was sent over one connection before the client hung up. */
  readonly sentBytes: number;
}

export interface WireWorld {
  readonly server: WireServer;
  /** Meets the behaviour in its place, and waits until its connections are gone. */
  readonly meet: (behaviour: Behaviour, place: Place) => Promise<Outcome>;
  readonly close: () => Promise<void>;
}

export const SLOW_SECONDS = 3;
export const FAST_SECONDS = 20;

/** Whether the call ends at its deadline. A redirect is followed, however slow its body may be. */
export function isHeld(behaviour: Behaviour, place: Place): boolean {
  return behaviour.slow === true && behaviour.expected[place] !== FOLLOWED;
}

/** Which connection is the hostile one: robots.txt is asked for before the page, and again before its redirect. */
const TURNS: Readonly<Record<Place, number>> = {robots: 0, document: 1, redirect: 3};

const page = (text: string, fields = 'Content-Type: text/plain\r\n', status = '200 OK'): string =>
  `HTTP/1.1 ${status}\r\n${fields}Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`;

/**
 * A server that plays every behaviour, each in each place at an address of its own, and toolboxes that
 * meet them: one that has three seconds for the slow ones, and one that has plenty of time.
 */
export async function openWireWorld(
  behaviours: readonly Behaviour[],
  tls?: {readonly ca: string; readonly certificate: Certificate},
): Promise<WireWorld> {
  const server = await startWireServer(
    {
      onConnect: connection => {
        const seat = seatAt(connection.address, behaviours);
        if (seat.behaviour.stage !== 'connect' || connection.index !== TURNS[seat.place]) return false;
        connection.tcp.resume();
        seat.behaviour.script(MESSAGES[seat.place])({...connection, wire: connection.tcp});
        return true;
      },
      onRequest: (connection, path) => serve(connection, path, seatAt(connection.address, behaviours)),
    },
    tls?.certificate,
  );
  const [slow, fast] = [SLOW_SECONDS, FAST_SECONDS].map(seconds =>
    openToolbox(server.port, seconds, tls?.ca),
  );
  if (slow === undefined || fast === undefined) throw new Error('Expected two toolboxes.');

  return {
    server,
    meet: async (behaviour, place) => {
      const index = behaviours.indexOf(behaviour);
      const address = `127.1.${index}.${PLACES.indexOf(place) + 1}`;
      const toolbox = isHeld(behaviour, place) ? slow : fast;
      const started = performance.now();
      const result = await toolbox.webFetch({
        url: `${server.scheme}://${nameOf(address)}:${server.port}/?secret`,
      });
      const elapsedMs = performance.now() - started;
      const hungUp = await server.settled(address, behaviour.whole ? 1 : 0);
      return {said: say(result), elapsedMs, hungUp, sentBytes: server.sent(address)};
    },
    close: async () => {
      await Promise.all([slow.close(), fast.close()]);
    },
  };
}

function openToolbox(port: number, seconds: number, ca: string | undefined): Toolbox {
  return createToolbox({
    resolver: {resolve: async name => [addressOf(name)]},
    certificateAuthorities: ca === undefined ? [] : [ca],
    config: {
      tools: {
        webfetch: {
          timeout_seconds: seconds,
          cache_dir: '',
          max_download_bytes: MAX_BYTES,
          robots_cache_entries: 0,
          robots: {max_robots_bytes: MAX_BYTES},
          browser: {enabled: false},
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]},
        },
      },
    },
  });
}

const nameOf = (address: string): string => `w${address.replaceAll('.', '-')}.wire.test`;
const addressOf = (name: string): string => (name.split('.', 1)[0] ?? '').slice(1).replaceAll('-', '.');

interface Seat {
  readonly behaviour: Behaviour;
  readonly place: Place;
}

function seatAt(address: string, behaviours: readonly Behaviour[]): Seat {
  const [, , index, placeIndex] = address.split('.').map(Number);
  const behaviour = behaviours[index ?? 0];
  const place = PLACES[(placeIndex ?? 0) - 1];
  if (behaviour === undefined || place === undefined) throw new Error(`Nobody plays at ${address}.`);
  return {behaviour, place};
}

function serve(connection: WireConnection, path: string, {behaviour, place}: Seat): void {
  const {wire} = connection;
  const hostilePath = place === 'robots' ? '/robots.txt' : '/?secret';
  if (path === hostilePath && behaviour.stage === undefined) behaviour.script(MESSAGES[place])(connection);
  else if (path === '/robots.txt') wire.end(page('', '', '404 Not Found'));
  else if (path === '/next') wire.end(page('The next page.'));
  else if (place === 'redirect') wire.end(page('', 'Location: /next\r\n', '302 Found'));
  else wire.end(page('The document.'));
}

function say(result: Awaited<ReturnType<Toolbox['webFetch']>>): string {
  if (result.ok) return `ok: ${result.value.chunks.map(({text}) => text).join('|')}`;
  const {code, details, message} = result.error;
  if (JSON.stringify({message, details}).includes('secret')) return `the query in: ${message}`;
  const {error, phase, status} = details;
  return `${code}/${error ?? phase ?? status ?? ''}`;
}

/** Runs `work` for all items, `atOnce` at a time. */
export async function inParallel<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const run = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({length: atOnce}, run));
}

export interface Holdings {
  readonly sockets: number;
  readonly descriptors: number;
  /** Heap, buffers and what else is outside of it, after garbage collection. */
  readonly bytes: number;
}

/** What this process holds now. */
export async function countHoldings(): Promise<Holdings> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What is freed by a finaliser of the first run goes with the second.
  for (let round = 0; round < 3; round += 1) {
    collect();
    await new Promise(resolve => setImmediate(resolve));
  }
  const {heapUsed, external} = process.memoryUsage();
  const links = readdirSync('/proc/self/fd').flatMap(fd => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return {
    sockets: links.filter(link => link.startsWith('socket:')).length,
    descriptors: links.length,
    bytes: heapUsed + external,
  };
}
