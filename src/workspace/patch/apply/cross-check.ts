import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {takeStart} from '../../../core/text/take-start.ts';
import {errorCode} from '../../../system/error-code.ts';
import {inTurns, LINES_A_TURN, type Turns} from '../../turns.ts';
import {byteString, bytesOf} from '../byte-string.ts';
import {hunkLine, hunkRange} from '../diff/render-unified.ts';
import type {HunkLine} from '../patch.ts';
import {TextBuilder} from '../text-builder.ts';
import type {LocatedHunk} from './apply-hunks.ts';
import type {FileHistory} from './file-history.ts';

/** Runs a program to its end. Rejects where it cannot be started. */
export type RunPatch = (
  command: string,
  args: readonly string[],
  options: {
    readonly cwd: string;
    /** The whole environment, nothing is inherited. */
    readonly env: Readonly<Record<string, string>>;
    readonly stdin: Uint8Array;
  },
) => Promise<{readonly exitCode: number | null; readonly stdout: string; readonly stderr: string}>;

export interface CrossCheckOptions {
  readonly run: RunPatch;
  /** Where the private copy is made and removed again: outside the workspace. Made if it is missing. */
  readonly directory: string;
  /** GNU patch. An absolute path: nothing is looked up in a `PATH`. */
  readonly command?: string;
}

export type CrossCheck =
  | {readonly outcome: 'agrees'}
  | {readonly outcome: 'unavailable'}
  | {readonly outcome: 'differs'; readonly reason: string};

const ARGUMENTS = ['-p1', '-u', '--force', '--fuzz=0', '--no-backup-if-mismatch', '--silent'] as const;

/**
 * Tool API: `patch -p1` is run as a second opinion, on a private copy of the contents that change, and
 * must come to the same bytes. It never sees names, modes or text of the patch, as it follows links and
 * headers in ways of its own: contents lie under numbers, renames are followed by us, and the hunks are
 * ours, at the places we found, with equal context on both sides (GNU patch ties uneven context to an end
 * of the file). `ed` is out of reach: there is no `PATH`, and only unified hunks are passed.
 */
export async function crossCheck(
  histories: readonly FileHistory[],
  options: CrossCheckOptions,
): Promise<CrossCheck> {
  const {run, directory, command = '/usr/bin/patch'} = options;
  await mkdir(directory, {recursive: true, mode: 0o700});
  const stage = await mkdtemp(join(directory, 'patch-'));
  try {
    const files = join(stage, 'files');
    await mkdir(files);
    for (const [number, {initial}] of histories.entries()) {
      if (initial !== undefined)
        await writeFile(join(files, fileName(number)), bytesOf(initial), {mode: 0o600});
    }
    const settings = {cwd: files, env: {PATH: stage, TMPDIR: stage, LC_ALL: 'C'}};
    const ask = (args: readonly string[], stdin: Uint8Array) =>
      start(() => run(command, args, {...settings, stdin}));
    const rendered = await inTurns(renderHistories(histories));
    const stdin = bytesOf(rendered.ok ? rendered.value : '');
    const tried = stdin.length > 0 ? await ask(ARGUMENTS, stdin) : undefined;
    const outcome = await outcomeOf(tried, files, histories);
    if (tried !== undefined && outcome.outcome === 'agrees') return outcome;
    // Only where it does not agree it has to be known whose word that is.
    const version = await ask(['--version'], new Uint8Array());
    return version?.stdout.startsWith('GNU patch') === true ? outcome : {outcome: 'unavailable'};
  } finally {
    await rm(stage, {recursive: true, force: true});
  }
}

async function outcomeOf(
  tried: Awaited<ReturnType<RunPatch>> | undefined,
  files: string,
  histories: readonly FileHistory[],
): Promise<CrossCheck> {
  if (tried !== undefined && tried.exitCode !== 0) {
    const said = takeStart(tried.stderr.trim() || tried.stdout.trim(), 300);
    return {outcome: 'differs', reason: `it ended with exit code ${tried.exitCode}: ${said}`};
  }
  return compare(files, histories);
}

async function start<Value>(run: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await run();
  } catch (error) {
    if (['ENOENT', 'EACCES'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** Every file has the content we computed, and nothing else is there. */
async function compare(directory: string, histories: readonly FileHistory[]): Promise<CrossCheck> {
  const present = new Set(await readdir(directory));
  for (const [number, {final}] of histories.entries()) {
    const name = fileName(number);
    if (present.delete(name) !== (final !== undefined)) {
      return {outcome: 'differs', reason: `a file is ${final === undefined ? 'left over' : 'missing'}`};
    }
    if (final !== undefined && byteString(await readFile(join(directory, name))) !== final) {
      return {outcome: 'differs', reason: 'the content of a file is another one'};
    }
  }
  if (present.size > 0) return {outcome: 'differs', reason: 'it made a file that the patch does not name'};
  return {outcome: 'agrees'};
}

function fileName(number: number): string {
  return `content-${number}`;
}

/** The hunks of all files as unified diffs, in the order of the patch. */
export function* renderHistories(histories: readonly FileHistory[]): Turns<string> {
  const versions = histories.flatMap(({versions}, number) =>
    versions.map(version => ({...version, name: fileName(number)})),
  );
  versions.sort((one, other) => one.order - other.order);
  const out = new TextBuilder();
  let rendered = 0;
  for (const {kind, hunks, name} of versions) {
    out.push(kind === 'create' ? '--- /dev/null\n' : `--- a/${name}\n`);
    out.push(kind === 'delete' ? '+++ /dev/null\n' : `+++ b/${name}\n`);
    let shift = 0;
    for (const hunk of hunks) {
      const {at, lines} = balanced(hunk);
      let oldCount = 0;
      let newCount = 0;
      for (const line of lines) {
        if (line.kind !== '+') oldCount += 1;
        if (line.kind !== '-') newCount += 1;
      }
      out.push(`@@ -${hunkRange(at, oldCount)} +${hunkRange(at + shift, newCount)} @@\n`);
      for (const line of lines) {
        out.push(hunkLine(line.kind, line.text));
        rendered += 1;
        if (rendered % LINES_A_TURN === 0) yield;
      }
      shift += newCount - oldCount;
    }
  }
  return out.finish();
}

/** The hunk with as much context before as after it; what is cut off was compared already. */
function balanced({at, lines}: LocatedHunk): {readonly at: number; readonly lines: readonly HunkLine[]} {
  const first = lines.findIndex(line => line.kind !== ' ');
  const last = lines.findLastIndex(line => line.kind !== ' ');
  const context = Math.min(first, lines.length - 1 - last);
  return {at: at + first - context, lines: lines.slice(first - context, last + 1 + context)};
}
