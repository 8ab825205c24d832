import type {Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {errorReason} from '../../system/error-code.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** What goes wrong while it listens, such as a connection that the system cannot take. It goes on listening. */
  readonly onProblem: (error: Error) => void;
}

/** Binds a server; the value is its port. */
export function listen(server: Server, {host, port, onProblem}: ListenOptions): Promise<Result<number>> {
  return new Promise(resolve => {
    const refused = (error: Error): void => {
      const code = errorReason(error);
      const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      const message = `Cannot listen on ${where} (${code}). Choose another port or address.`;
      resolve(fail('io_error', message, {error: code, operation: 'listen'}));
    };
    server.once('error', refused);
    server.listen({host, port}, () => {
      server.off('error', refused);
      server.on('error', onProblem);
      resolve(ok((server.address() as AddressInfo).port));
    });
  });
}
