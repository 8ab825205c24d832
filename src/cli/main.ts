#!/usr/bin/env node
// Starts the command line in this process: console, environment, Ctrl-C and exit code.
import {readFileSync} from 'node:fs';
import {type Environment, readEnvironment} from '../config/environment.ts';
import {packageFile} from '../core/package-file.ts';
import {errorCode} from '../system/errors.ts';
import {EXIT, type ExitCode} from './command.ts';
import {processConsole} from './console.ts';
import {runCli} from './run-cli.ts';
import {loadServices} from './toolbox-services.ts';

const environment: Environment = {...readEnvironment(), ownsProcess: true};
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
process.once('SIGTERM', () => interrupt.abort());
// A reader that went away (`| head`) ends the program quietly, and in good order: what runs is closed first.
let readerIsGone = false;
process.stdout.on('error', error => {
  if (errorCode(error) !== 'EPIPE') throw error;
  readerIsGone = true;
  interrupt.abort();
});

const exitCode = await runCli({
  argv: process.argv.slice(2),
  console: processConsole(environment.env),
  environment,
  signal: interrupt.signal,
  services: loadServices,
  program: [process.execPath, ...process.argv.slice(1, 2)],
  get version(): string {
    const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
    return (manifest as {readonly version: string}).version;
  },
}).catch((error: unknown): ExitCode => {
  if (!readerIsGone) throw error;
  return EXIT.ok;
});
process.exitCode = readerIsGone ? EXIT.ok : exitCode;
