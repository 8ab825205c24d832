import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));

/** Runs the built command line, without a terminal and with nothing of this process's configuration. */
export function runBuiltCli(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {PATH: process.env['PATH'], HOME: process.env['HOME'], ...env},
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', chunk => out.push(chunk));
  child.stderr.on('data', chunk => err.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code =>
      resolve({code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString()}),
    );
  });
}
