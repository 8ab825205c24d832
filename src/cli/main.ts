#!/usr/bin/env node
import {readFileSync} from 'node:fs';
import {readEnvironment} from '../config/environment.ts';
import {packageFile} from '../core/package-file.ts';
import {processConsole} from './console.ts';
import {EXIT} from './exit-codes.ts';
import {loadServices} from './load-services.ts';
import {runCli} from './run-cli.ts';

const environment = readEnvironment();
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
process.once('SIGTERM', () => interrupt.abort());
// A reader that went away (`| head`) ends the program quietly.
process.stdout.on('error', error => {
  if ('code' in error && error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});

process.exitCode = await runCli({
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
});
