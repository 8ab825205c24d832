import {mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {errorCode} from '../../../src/system/errors.ts';

/** A control group of the test, which no descendant of its members can leave: what is in it is what is left. */
export interface ProcessHerd {
  readonly take: (pid: number) => void;
  /** Of what is in it and below it: process and command line. */
  readonly members: () => readonly string[];
  /** Groups below it. */
  readonly groups: () => readonly string[];
}

export function processHerd(): ProcessHerd {
  const directory = join(ownGroup(), `forge-herd.${process.pid}.${Math.random().toString(16).slice(2)}`);
  mkdirSync(directory);
  onTestFinished(() => {
    for (const group of [...below(directory).reverse(), directory]) rmdirSync(group);
  });
  return {
    take: pid => writeFileSync(join(directory, 'cgroup.procs'), String(pid)),
    members: () =>
      [directory, ...below(directory)].flatMap(group =>
        contentOf(join(group, 'cgroup.procs')).trim().split('\n').filter(Boolean).map(described),
      ),
    groups: () => below(directory),
  };
}

function ownGroup(): string {
  const membership = readFileSync('/proc/self/cgroup', 'utf8');
  const separate = /^\d+:(?:[^:]*,)?pids(?:,[^:]*)?:(\/.*)$/m.exec(membership)?.[1];
  if (separate !== undefined) return join('/sys/fs/cgroup/pids', separate);
  return join('/sys/fs/cgroup', /^0::(\/.*)$/m.exec(membership)?.[1] ?? '');
}

/** A group can be taken away while it is looked at. */
function contentOf(file: string): string {
  return orGone(() => readFileSync(file, 'utf8'), '');
}

function orGone<Value>(look: () => Value, gone: Value): Value {
  try {
    return look();
  } catch (error) {
    if (['ENOENT', 'ENODEV'].includes(errorCode(error) ?? '')) return gone;
    throw error;
  }
}

function below(directory: string): string[] {
  return orGone(() => readdirSync(directory, {withFileTypes: true}), [])
    .filter(entry => entry.isDirectory())
    .flatMap(({name}) => [join(directory, name), ...below(join(directory, name))]);
}

function described(pid: string): string {
  try {
    return `${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').slice(0, 80)}`;
  } catch {
    return `${pid} (ended)`;
  }
}
