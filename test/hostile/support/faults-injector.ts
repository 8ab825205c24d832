import childProcess from 'node:child_process';
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import net from 'node:net';
import tls from 'node:tls';
import workerThreads from 'node:worker_threads';

/** What this process asked of the system. */
export interface Operation {
  /** `fsp.open`, `handle.read`, `fs.renameSync`, `socket.push`, `spawn` … */
  readonly kind: string;
  /** The path, address or command. */
  readonly subject: string;
}

/** Codes of the system, and `SHORT` for a write that takes half of what it was given. */
export type FaultCode = 'EIO' | 'ENOSPC' | 'EMFILE' | 'EACCES' | 'ENOENT' | 'ECONNRESET' | 'EAGAIN' | 'SHORT';

/** Which operations fail. The number counts from 1. */
export type Strikes = (operation: Operation, number: number) => FaultCode | undefined;

export interface Faults {
  /** From now on operations are counted, and those fail that `strikes` names. */
  readonly arm: (strikes: Strikes) => void;
  /** Ends it; the value is what was asked meanwhile, with what failed. */
  readonly disarm: () => readonly (Operation & {readonly failed?: FaultCode})[];
  /** Makes any function an operation. */
  readonly counted: <Args extends readonly unknown[], Value>(
    kind: string,
    work: (...args: Args) => Promise<Value>,
  ) => (...args: Args) => Promise<Value>;
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
type Holder = Record<string, unknown>;

const PROMISES =
  'access copyFile lchown link lstat mkdir mkdtemp open readFile readdir readlink realpath rename rm rmdir stat truncate unlink writeFile';
const SYNC =
  'accessSync fstatSync fsyncSync ftruncateSync lstatSync mkdirSync openSync readFileSync readSync readdirSync realpathSync renameSync rmdirSync statSync unlinkSync writeSync';
const HANDLE = 'chmod datasync read readFile stat sync truncate utimes write writeFile';

/**
 * Stands between this process and the system: files, directories, sockets, pipes, programs and threads.
 * Modules that import those by name see it too. To be installed once, before the code that is tested.
 */
export async function installFaults(): Promise<Faults> {
  let strikes: Strikes | undefined;
  let operations: (Operation & {failed?: FaultCode})[] = [];
  const link = fs.readlinkSync;

  const named = (value: unknown): string => {
    if (typeof value !== 'number') return String(value);
    try {
      return link(`/proc/self/fd/${value}`);
    } catch {
      return `descriptor ${value}`;
    }
  };
  const strike = (kind: string, subject: unknown): FaultCode | undefined => {
    if (strikes === undefined) return undefined;
    // How many other processes there are is no part of a call.
    if (/^\/proc\/\d+(?:\/(?:environ|comm))?$/.test(String(subject))) return undefined;
    const operation: Operation & {failed?: FaultCode} = {kind, subject: named(subject)};
    operations.push(operation);
    const failed = strikes(operation, operations.length);
    if (failed !== undefined) operation.failed = failed;
    return failed;
  };

  // A call may do another operation at this number than it did when they were counted.
  const codeOf = (code: FaultCode): FaultCode => (code === 'SHORT' ? 'EIO' : code);
  const patch = (holder: object, name: string, wrap: (original: AnyFunction) => AnyFunction): void => {
    const original = (holder as Holder)[name] as AnyFunction;
    (holder as Holder)[name] = Object.assign(wrap(original), original);
  };

  for (const name of PROMISES.split(' ')) {
    patch(fsPromises, name, original => async (...args) => {
      const code = strike(`fsp.${name}`, args[0]);
      if (code !== undefined) throw systemError(codeOf(code), name, args[0]);
      return original.apply(fsPromises, args);
    });
  }
  for (const name of SYNC.split(' ')) {
    patch(fs, name, original => (...args) => {
      const code = strike(`fs.${name}`, args[0]);
      if (code === 'SHORT' && name === 'writeSync') {
        const bytes = args[1] as Uint8Array;
        return original(args[0], bytes, 0, bytes.length >> 1);
      }
      if (code !== undefined) throw systemError(codeOf(code), name.replace('Sync', ''), args[0]);
      return original.apply(fs, args);
    });
  }
  // As Linux has it: the descriptor is gone, whatever `close` says.
  patch(fs, 'closeSync', original => (...args) => {
    const code = strike('fs.closeSync', args[0]);
    original.apply(fs, args);
    if (code !== undefined) throw systemError(codeOf(code), 'close', args[0]);
  });

  const probe = await fsPromises.open('/dev/null');
  const handles = Object.getPrototypeOf(probe) as Holder;
  await probe.close();
  for (const name of HANDLE.split(' ')) {
    patch(
      handles,
      name,
      original =>
        async function (this: unknown, ...args) {
          const {fd} = this as {readonly fd: number};
          const code = strike(`handle.${name}`, fd);
          if (code === 'SHORT' && name === 'write') {
            const bytes = args[0] as Uint8Array;
            return original.call(this, bytes.subarray(0, Math.max(1, bytes.length >> 1)));
          }
          if (code !== undefined) throw systemError(codeOf(code), name, fd);
          return original.apply(this, args);
        },
    );
  }
  patch(
    handles,
    'close',
    original =>
      async function (this: unknown) {
        const code = strike('handle.close', (this as {readonly fd: number}).fd);
        await original.call(this);
        if (code !== undefined) throw systemError(codeOf(code), 'close', '');
      },
  );

  for (const [module, name] of [
    [net, 'net'],
    [tls, 'tls'],
  ] as const) {
    patch(module, 'connect', original => (...args) => {
      const {host = '', port = ''} = args[0] as {readonly host?: string; readonly port?: number};
      const code = strike(`${name}.connect`, `${host}:${port}`);
      if (code === undefined) return original.apply(module, args);
      const socket = new net.Socket();
      process.nextTick(() => socket.destroy(systemError(code, 'connect', host)));
      return socket;
    });
  }
  // Pipes of programs are sockets too.
  const sockets = net.Socket.prototype as unknown as Holder;
  patch(
    sockets,
    'push',
    original =>
      function (this: unknown, ...args) {
        const code = isStandard(this) ? undefined : strike('socket.push', args[0] === null ? 'end' : 'data');
        if (code === undefined) return original.apply(this, args);
        (this as net.Socket).destroy(systemError(code, 'read', ''));
        return false;
      },
  );
  for (const name of ['_write', '_writev']) {
    patch(
      sockets,
      name,
      original =>
        function (this: unknown, ...args) {
          const code = isStandard(this) ? undefined : strike('socket.write', '');
          if (code === undefined) return original.apply(this, args);
          (args.at(-1) as (error: Error) => void)(systemError(code, 'write', ''));
          return undefined;
        },
    );
  }

  for (const name of ['spawn', 'execFile']) {
    patch(childProcess, name, original => (...args) => {
      const code = strike(name, args[0]);
      if (code === undefined) return original.apply(childProcess, args);
      // A program that is not there fails as one does that cannot be started.
      const child = original.call(childProcess, '/nonexistent/program', ...args.slice(1)) as Holder;
      patch(
        child,
        'emit',
        emit =>
          function (this: unknown, event, ...rest) {
            return emit.call(
              this,
              event,
              ...(event === 'error' ? [systemError(code, 'spawn', args[0])] : rest),
            );
          },
      );
      return child;
    });
  }
  (workerThreads as unknown as Holder)['Worker'] = new Proxy(workerThreads.Worker, {
    construct: (target, args, self) => {
      const code = strike('Worker', args[0]);
      if (code === undefined) return Reflect.construct(target, args, self) as object;
      throw Object.assign(new Error(`Worker initialization failure: ${code}`), {
        code: 'ERR_WORKER_INIT_FAILED',
      });
    },
  });
  syncBuiltinESMExports();

  return {
    arm: next => {
      operations = [];
      strikes = next;
    },
    disarm: () => {
      strikes = undefined;
      return operations;
    },
    counted:
      (kind, work) =>
      async (...args) => {
        const code = strike(kind, args[0]);
        if (code !== undefined) throw systemError(codeOf(code), kind, args[0]);
        return work(...args);
      },
  };
}

/** Through its standard streams a process is talked to; they are no part of what it does. */
function isStandard(socket: unknown): boolean {
  const {fd} = socket as {readonly fd?: number};
  return fd !== undefined && fd >= 0 && fd <= 2;
}

function systemError(code: FaultCode, syscall: string, path: unknown): Error {
  const where = typeof path === 'number' ? '' : ` '${String(path)}'`;
  return Object.assign(new Error(`${code}: made to fail, ${syscall}${where}`), {
    code,
    errno: -5,
    syscall,
    path,
  });
}
