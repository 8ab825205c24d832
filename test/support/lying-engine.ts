import {createServer} from 'node:net';
import {type ListeningServer, listen} from './listening-server.ts';

/** What one command says: `['EVAL', script, …]` for a script. */
export type LyingAnswer = (
  words: readonly Buffer[],
) => string | Buffer | undefined | Promise<string | Buffer | undefined>;

export interface LyingEngine extends ListeningServer {
  readonly url: string;
}

const HONEST: {readonly [command: string]: string} = {
  HELLO: '%1\r\n$5\r\nproto\r\n:3\r\n',
  INFO: '$17\r\nrun_id:0123456789\r\n',
  PING: '+PONG\r\n',
  EVAL: ':1\r\n',
  EVALSHA: '-NOSCRIPT none\r\n',
};

/** Speaks the Redis protocol and answers whatever bytes it likes; `undefined` stands for a plain answer. */
export async function startLyingEngine(answer: LyingAnswer): Promise<LyingEngine> {
  const server = createServer(socket => {
    let received = Buffer.alloc(0);
    let answered: Promise<unknown> = Promise.resolve();
    socket.on('error', () => {});
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk]);
      for (;;) {
        const command = readCommand(received);
        if (command === undefined) return;
        received = received.subarray(command.length);
        const {words} = command;
        const plain = HONEST[String(words[0]).toUpperCase()] ?? '+OK\r\n';
        const said = (async () => (await answer(words)) ?? plain)();
        answered = answered.then(async () => {
          const bytes = await said;
          if (!socket.destroyed) socket.write(bytes);
        });
      }
    });
  });
  const listening = await listen(server, '127.0.0.1');
  return {...listening, url: `redis://127.0.0.1:${listening.port}`};
}

function readCommand(
  bytes: Buffer,
): {readonly words: readonly Buffer[]; readonly length: number} | undefined {
  let at = 0;
  const readCount = (): number | undefined => {
    const end = bytes.indexOf('\r\n', at);
    if (end === -1) return undefined;
    const count = Number(bytes.toString('latin1', at + 1, end));
    at = end + 2;
    return count;
  };
  const count = readCount();
  if (count === undefined) return undefined;
  const words: Buffer[] = [];
  while (words.length < count) {
    const size = readCount();
    if (size === undefined || bytes.length < at + size + 2) return undefined;
    words.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
  return {words, length: at};
}
