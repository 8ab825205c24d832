import {randomInt} from 'node:crypto';
import {once} from 'node:events';
import {createServer} from 'node:net';

/** Below what systems give to connections and to listeners that ask for any port: none of these takes it meanwhile. */
const FIRST = 10_000;
const BEYOND = 30_000;

/** For a program that cannot say which port it was given. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    const port = randomInt(FIRST, BEYOND);
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') continue;
      throw error;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
