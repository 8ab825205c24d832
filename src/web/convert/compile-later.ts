// Tells V8 to optimise later, where the process is ours.

import {setFlagsFromString} from 'node:v8';

/**
 * For each line of Node, when V8 looks whether to optimise a function: after so many bytes of its bytecode, or so many
 * calls of it. By default that is three to six times as early, and a process that converts one page spends more on
 * compiling than on the page (decision 0031). Later lines wait by themselves.
 */
const FLAGS: Readonly<Record<string, string>> = {
  20: '--interrupt-budget=400000',
  22: '--invocation-count-for-turbofan=10000',
};

/** For the whole process, so only where it is ours. What runs long is optimised as before, a little later. */
export function compileLater(): void {
  const flag = compilerFlag(process.versions.node);
  if (flag !== undefined) setFlagsFromString(flag);
}

/** What V8 of a version of Node is told, if anything. */
export function compilerFlag(version: string): string | undefined {
  return FLAGS[version.split('.', 1)[0] ?? ''];
}
