// Limits memory and processes of commands by cgroups, version 2 and 1.
import {constants, readFileSync} from 'node:fs';
import {access, mkdir, readdir, readFile, rmdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {type Clock, randomHex} from '../core/clock.ts';
import {errorCode, ifRefused} from './errors.ts';
import {livenessOf, ownIdentity} from './process.ts';

const ROOT = '/sys/fs/cgroup';
const PREFIX = 'forge-tools.';
const CPU_PERIOD_US = 100_000;
const REMOVAL_TRIES = 100;
const REMOVAL_PAUSE_MS = 10;
const FULL_SHARE = 0.97;
/** Of what is full, so much is memory that no file stands behind: the rest does not help any more. */
const WRITTEN_SHARE = 0.7;

export interface GroupLimits {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly cpus: number;
}

/** Where groups can be made: directories that are ours, and the controllers each of them brings. */
export interface GroupPlace {
  readonly version: 1 | 2;
  readonly parents: readonly {readonly path: string; readonly controllers: readonly string[]}[];
}

/** One run's group, in one directory (version 2) or one for each controller (version 1). */
export interface ControlGroup {
  /** A process that writes "0" into each of them is a member. */
  readonly procsFiles: readonly string[];
  /** Reads a file of the kernel, which takes no time. False where it cannot be read. */
  readonly ranOutOfMemory: () => boolean;
  /**
   * Whether its members have all that they may have, and wrote most of it. The kernel then takes the pages of their
   * programs away again and again before it ends one of them, which can take minutes.
   */
  readonly isFull: () => boolean;
  /** Kills its members and takes it away; false if one of them did not end in time. */
  readonly remove: () => Promise<boolean>;
}

/** Looks for a place with memory and process counting; `undefined` where there is none for us. */
export async function findGroupPlace(): Promise<GroupPlace | undefined> {
  const membership = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  const place = (await findUnified(membership)) ?? (await findSeparate(membership));
  for (const {path} of place?.parents ?? []) await removeStale(path);
  return place;
}

/**
 * Version 2: a group with members may not pass controllers on, so the place is the nearest group
 * above ours that passes them on and is ours to change, as systemd delegates them to users.
 */
async function findUnified(membership: string): Promise<GroupPlace | undefined> {
  const own = /^0::(\/.*)$/m.exec(membership)?.[1];
  if (own === undefined) return undefined;
  for (let path = join(ROOT, own); path.startsWith(ROOT); path = dirname(path)) {
    const passedOn = await readFile(join(path, 'cgroup.subtree_control'), 'utf8').catch(() => '');
    const controllers = passedOn.split(/\s+/);
    if (!controllers.includes('memory') || !controllers.includes('pids')) continue;
    if (!(await isWritable(path)) || !(await isWritable(join(path, 'cgroup.procs')))) continue;
    return {version: 2, parents: [{path, controllers}]};
  }
  return undefined;
}

/** Version 1: one hierarchy for each controller, groups below our own. */
async function findSeparate(membership: string): Promise<GroupPlace | undefined> {
  const parents: {readonly path: string; readonly controllers: readonly string[]}[] = [];
  for (const controller of ['memory', 'pids', 'cpu']) {
    const own = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(/.*)$`, 'm').exec(membership)?.[1];
    if (own === undefined) continue;
    const path = join(ROOT, controller, own);
    if (await isWritable(path)) parents.push({path, controllers: [controller]});
  }
  const found = parents.flatMap(({controllers}) => controllers);
  return found.includes('memory') && found.includes('pids') ? {version: 1, parents} : undefined;
}

/** Throws if the system refuses. */
export async function createGroup(
  place: GroupPlace,
  limits: GroupLimits,
  clock: Clock,
  /** Told the directories before they are made, so that another process can take them away if we are killed. */
  announce: (directories: readonly string[]) => Promise<void> = async () => {},
): Promise<ControlGroup> {
  const name = `${PREFIX}${ownerName()}.${randomHex(4)}`;
  const groups = place.parents.map(({path, controllers}) => ({path: join(path, name), controllers}));
  const directories = groups.map(({path}) => path);
  await announce(directories);
  const made = await Promise.allSettled(
    groups.map(async ({path, controllers}) => {
      await mkdir(path);
      const settings = place.version === 2 ? unifiedSettings(limits) : separateSettings(limits);
      for (const {controller, file, value, required} of settings) {
        if (!controllers.includes(controller)) continue;
        const written = writeFile(join(path, file), value);
        await (required ? written : written.catch(() => {}));
      }
    }),
  );
  const refused = made.find(outcome => outcome.status === 'rejected');
  if (refused !== undefined) {
    await removeAll(directories, clock);
    throw refused.reason;
  }
  const memory = groups.find(({controllers}) => controllers.includes('memory'))?.path ?? '';
  const events = join(memory, place.version === 2 ? 'memory.events' : 'memory.oom_control');
  const usage = join(memory, place.version === 2 ? 'memory.current' : 'memory.usage_in_bytes');
  return {
    procsFiles: groups.map(({path}) => join(path, 'cgroup.procs')),
    ranOutOfMemory: () => ranOutOfMemory(events),
    isFull: () =>
      bytesIn(usage, /^(\d+)/) > FULL_SHARE * limits.memoryBytes &&
      bytesIn(join(memory, 'memory.stat'), /^(?:anon|total_rss) (\d+)$/m) >
        WRITTEN_SHARE * limits.memoryBytes,
    remove: () => removeAll(directories, clock),
  };
}

/** Runs after the command. If it fails, the command's result still counts. */
function ranOutOfMemory(events: string): boolean {
  return ifRefused(() => /^oom_kill [1-9]/m.test(readFileSync(events, 'utf8')), false);
}

/** The first group of `pattern` in a file of the kernel; 0 where it cannot be read. */
function bytesIn(path: string, pattern: RegExp): number {
  return ifRefused(() => Number(pattern.exec(readFileSync(path, 'utf8'))?.[1] ?? 0), 0);
}

interface GroupSetting {
  readonly controller: string;
  readonly file: string;
  readonly value: string;
  readonly required: boolean;
}

function unifiedSettings({memoryBytes, processes, cpus}: GroupLimits): readonly GroupSetting[] {
  return [
    {controller: 'memory', file: 'memory.max', value: String(memoryBytes), required: true},
    // Not there without swap.
    {controller: 'memory', file: 'memory.swap.max', value: '0', required: false},
    {controller: 'pids', file: 'pids.max', value: String(processes), required: true},
    {controller: 'cpu', file: 'cpu.max', value: `${cpus * CPU_PERIOD_US} ${CPU_PERIOD_US}`, required: true},
  ];
}

function separateSettings({memoryBytes, processes, cpus}: GroupLimits): readonly GroupSetting[] {
  return [
    {controller: 'memory', file: 'memory.limit_in_bytes', value: String(memoryBytes), required: true},
    {controller: 'memory', file: 'memory.memsw.limit_in_bytes', value: String(memoryBytes), required: false},
    {controller: 'pids', file: 'pids.max', value: String(processes), required: true},
    {controller: 'cpu', file: 'cpu.cfs_period_us', value: String(CPU_PERIOD_US), required: true},
    {controller: 'cpu', file: 'cpu.cfs_quota_us', value: String(cpus * CPU_PERIOD_US), required: true},
  ];
}

/** A group lets go of its last member shortly after that has ended. */
async function removeAll(paths: readonly string[], clock: Clock): Promise<boolean> {
  for (let tries = REMOVAL_TRIES; ; tries--) {
    const left = await Promise.all(paths.map(removeGroup));
    if (left.every(Boolean) || tries === 0) return left.every(Boolean);
    await new Promise<void>(resolve => clock.after(REMOVAL_PAUSE_MS, resolve));
  }
}

const isGone = (): boolean => true;

async function removeGroup(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    if (errorCode(error) === 'ENOENT') return true;
    await killMembers(path);
    return false;
  }
}

async function killMembers(group: string): Promise<void> {
  const members = await readFile(join(group, 'cgroup.procs'), 'utf8').catch(() => '');
  for (const member of members.split('\n').map(Number)) {
    // 0 is a process of another PID namespace, which has no number here.
    // One that has just ended is refused.
    if (member > 1 && member !== process.pid) ifRefused(() => process.kill(member, 'SIGKILL'));
  }
}

/** Lets a later process see whose groups were left behind: number, start and PID namespace. */
function ownerName(): string {
  const {pid, started, namespace} = ownIdentity();
  return `${pid}.${digitsOf(started.slice(started.lastIndexOf(':') + 1))}.${digitsOf(namespace)}`;
}

const digitsOf = (text: string): string => text.replace(/\D/g, '');

/** review R14: a host that was killed leaves its groups behind, and what did not end with it in them. */
async function removeStale(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(PREFIX) || !isOwnerGone(name.slice(PREFIX.length))) continue;
    await removeGroup(join(parent, name));
    await removeGroup(join(parent, name));
  }
}

function isOwnerGone(name: string): boolean {
  const [pid, started = '', namespace = ''] = name.split('.');
  const self = ownIdentity();
  // Numbers of another namespace say nothing here. A group of an earlier boot is not there any more.
  if (namespace !== digitsOf(self.namespace)) return false;
  const boot = self.started.slice(0, self.started.lastIndexOf(':'));
  return livenessOf({...self, pid: Number(pid), started: `${boot}:${started}`}) === 'gone';
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(isGone, () => false);
}
