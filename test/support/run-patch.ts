import {spawn} from 'node:child_process';
import type {RunPatch} from '../../src/workspace/patch/cross-check.ts';

/** Runs a program for real, with nothing but the given environment. */
export const runPatch: RunPatch = (command, args, {cwd, env, stdin}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {cwd, env});
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', exitCode => {
      resolve({exitCode, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString()});
    });
    // It may end before it has read all of it.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
  });
