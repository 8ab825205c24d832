import type {Socket} from 'node:net';
import type {PieceReader} from './piece-reader.ts';

export interface Join {
  readonly client: Socket;
  readonly upstream: Socket;
  /** What reads upstream, which waits for it. */
  readonly reader: PieceReader;
  /** Looks at what the client sends before it is passed on; false where it is not. Absent: nothing more is taken from it. */
  readonly onUp: ((chunk: Buffer) => boolean) | undefined;
  readonly onDown: (chunk: Buffer) => boolean;
  /** Everything that was said has arrived. */
  readonly onOver: () => void;
}

/** Passes on what two sockets say, each no faster than the other one listens. Errors are for who owns them. */
export function joinSockets({client, upstream, reader, onUp, onDown, onOver}: Join): void {
  if (onUp === undefined) client.resume();
  else pump(client, upstream, onUp);
  reader.pump(upstream, client, onDown);
  upstream.once('end', () => client.end());
  const hasArrived = (socket: Socket): boolean => socket.destroyed || socket.writableFinished;
  const look = (): void => {
    if (hasArrived(client) && (onUp === undefined || hasArrived(upstream))) onOver();
  };
  for (const socket of [client, upstream]) socket.once('close', look).once('finish', look);
}

function pump(from: Socket, to: Socket, look: (chunk: Buffer) => boolean): void {
  from.on('data', chunk => {
    if (!look(chunk) || to.write(chunk)) return;
    from.pause();
    to.once('drain', () => from.resume());
  });
  from.once('end', () => to.end());
  from.resume();
}
