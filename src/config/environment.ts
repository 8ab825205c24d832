import {homedir, tmpdir} from 'node:os';

/** What the process was started with. Everything else that needs it is handed this. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The temporary directory of the operating system. */
  readonly tempDir: string;
  readonly homeDir: string;
  /** Whether nobody else's code runs in the process, as in that of the command line. Default: no. */
  readonly ownsProcess?: boolean;
}

/** The only place that reads the process environment: a snapshot of it. */
export function readEnvironment(): Environment {
  return Object.freeze({
    env: Object.freeze({...process.env}),
    cwd: process.cwd(),
    tempDir: tmpdir(),
    homeDir: homedir(),
  });
}
