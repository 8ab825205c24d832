import {link, readdir, readFile, unlink, writeFile} from 'node:fs/promises';
import {hostname} from 'node:os';
import {join} from 'node:path';
import {fail} from '../core/failure.ts';
import {randomHex} from '../core/random.ts';
import {ok, type Result} from '../core/result.ts';
import {errorCode, ioFailure} from './io-failure.ts';

interface Holder {
  readonly pid: number;
  /** Start of the process in clock ticks since boot, where the system tells: a pid is used again. */
  readonly started: string;
  readonly host: string;
}

const LOCK = /^lock\.(\d{1,9})$/;

/**
 * Makes this process the only writer of a run directory. The holder of the highest `lock.N` owns it;
 * a dead holder is succeeded by whoever creates `lock.N+1` first, so no lock of a living one is ever
 * removed by somebody else. The value releases the lock.
 */
export async function lockRun(directory: string): Promise<Result<() => Promise<void>>> {
  const draft = join(directory, `lock.${randomHex(6)}.tmp`);
  let made: string | undefined;
  try {
    const self: Holder = {pid: process.pid, started: await startOf(process.pid), host: hostname()};
    await writeFile(draft, JSON.stringify(self), {mode: 0o600, flag: 'wx'});
    for (;;) {
      const highest = Math.max(0, ...(await generations(directory)));
      const holder = highest === 0 ? undefined : await readHolder(lockPath(directory, highest));
      if (holder !== undefined && (await isAlive(holder))) return inUse(directory, holder, highest);
      const mine = highest + 1;
      if (!(await created(draft, lockPath(directory, mine)))) continue;
      made = lockPath(directory, mine);
      // Somebody may have got further between our look and our lock; the highest one owns the run.
      const all = await generations(directory);
      if (Math.max(...all) !== mine) {
        await remove(lockPath(directory, mine));
        continue;
      }
      for (const older of all) if (older < mine) await remove(lockPath(directory, older));
      return ok(() => remove(lockPath(directory, mine)));
    }
  } catch (error) {
    // A lock that nobody was told of would keep everybody out.
    if (made !== undefined) await remove(made);
    return ioFailure(error, directory, 'lock');
  } finally {
    await remove(draft);
  }
}

/** Whether a living process is writing to the run, as far as this machine can tell. */
export async function isRunInUse(directory: string): Promise<boolean> {
  const highest = Math.max(0, ...(await generations(directory).catch(() => [])));
  if (highest === 0) return false;
  const holder = await readHolder(lockPath(directory, highest)).catch(() => undefined);
  return holder !== undefined && isAlive(holder);
}

async function generations(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory);
  return names.flatMap(name => {
    const number = LOCK.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

/** A lock that is gone or no lock of ours has no holder. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    const {pid, started, host} = value as Readonly<Partial<Record<keyof Holder, unknown>>>;
    if (typeof pid !== 'number' || typeof started !== 'string' || typeof host !== 'string') return undefined;
    return {pid, started, host};
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || errorCode(error) === 'ENOENT')
      return undefined;
    throw error;
  }
}

/** Of another machine nothing is known, so its process counts as alive. */
async function isAlive({pid, started, host}: Holder): Promise<boolean> {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
  }
  return (await startOf(pid)) === started;
}

/** Field 22 of `/proc/PID/stat`, counted after the name, which may hold anything; '' elsewhere. */
async function startOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

async function created(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function remove(path: string): Promise<void> {
  await unlink(path).catch(() => {});
}

function lockPath(directory: string, generation: number): string {
  return join(directory, `lock.${generation}`);
}

function inUse(directory: string, {pid, host}: Holder, generation: number): Result<never> {
  return fail(
    'io_error',
    `The run directory ${JSON.stringify(directory)} is in use by process ${pid} on ${host}. Use another run directory; if that process is gone, delete ${lockPath(directory, generation)}.`,
    {path: directory, error: 'in_use', operation: 'lock'},
  );
}
