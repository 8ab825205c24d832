import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {PassThrough, Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import type {Console} from '../../src/cli/console.ts';
import {runCli} from '../../src/cli/run-cli.ts';
import type {ToolboxServices} from '../../src/cli/toolbox-services.ts';
import * as realServices from '../../src/create-toolbox/services.ts';

export interface CliOptions {
  /** Standard input. Default: empty. */
  readonly input?: string | Readable;
  /** A terminal, at which somebody types these lines. Default: no terminal. */
  readonly answers?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly homeDir?: string;
  readonly tempDir?: string;
  readonly signal?: AbortSignal;
  readonly services?: Partial<ToolboxServices>;
  /** What started the command. Default: a path where nothing is. */
  readonly program?: readonly [string, ...string[]];
  /** Called with each part of standard output. */
  readonly onStdout?: (text: string) => void;
  /** Called with each part of standard error; what it throws fails the test. */
  readonly onStderr?: (text: string) => Promise<void>;
}

export interface CliOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process, on streams of its own and with nothing of this process's configuration. */
export async function runCliHere(argv: readonly string[], options: CliOptions = {}): Promise<CliOutcome> {
  const {
    input = '',
    answers,
    env = {},
    cwd = '/nonexistent',
    // Not that of a test: some ask what commands there are before one begins.
    tempDir = mkdtempSync(join(tmpdir(), 'forge-cli-')),
    homeDir = join(tempDir, 'home'),
    services = {},
    onStdout,
    onStderr,
  } = options;
  const signal = options.signal ?? new AbortController().signal;
  const output = new PassThrough();
  const written = text(output);
  if (onStdout !== undefined) output.on('data', (part: Buffer) => onStdout(part.toString()));
  const waiting = [...(answers ?? [])];
  const watching: Promise<void>[] = [];
  let stderr = '';
  const err = (part: string): void => {
    stderr += part;
    if (onStderr !== undefined) watching.push(onStderr(part));
  };
  const console: Console = {
    out: part => new Promise((done, failed) => output.write(part, error => (error ? failed(error) : done()))),
    err,
    input: typeof input === 'string' ? Readable.from(input === '' ? [] : [Buffer.from(input)]) : input,
    output,
    ask:
      answers &&
      (async question => {
        err(question);
        return waiting.shift();
      }),
    interactive: answers !== undefined,
    errInteractive: answers !== undefined,
    color: false,
    columns: 80,
  };
  const code = await runCli({
    argv,
    console,
    environment: {env, cwd, tempDir, homeDir},
    signal,
    version: '0.0.0-test',
    program: options.program ?? ['/usr/bin/node', '/opt/forge tools/forge-tools.js'],
    services: async () => ({...realServices, ...services}),
  });
  await Promise.all(watching);
  output.end();
  return {code, stdout: await written, stderr};
}
