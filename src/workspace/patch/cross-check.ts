// Asks GNU patch for a second opinion, on a private copy.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {takeStart} from '../../core/text/cut.ts';
import {ifRefused, ifRefusedLater} from '../../system/errors.ts';
import {inTurns, LINES_A_TURN, type Turns} from '../open-file.ts';
import type {FileHistory, LocatedHunk} from './apply-hunks.ts';
import {byteString, bytesOf, type HunkLine, TextBuilder} from './patch.ts';
import {GNU_PATCH, PATCH_ARGUMENTS} from './patch-server.ts';
import {hunkLine, hunkRange} from './unified.ts';

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
  /** A quicker way, which may not be there: it takes the patch as `hunks` beside `files`. Only `true` says something. */
  readonly warmServer?: (() => ((stage: string) => Promise<boolean>) | undefined) | undefined;
  /** Where the private copy is made and removed again: outside the workspace. Made if it is missing. */
  readonly directory: string;
  /** GNU patch. An absolute path: nothing is looked up in a `PATH`. */
  readonly command?: string;
}

export type CrossCheck =
  | {readonly outcome: 'agrees'}
  | {readonly outcome: 'unavailable'}
  | {readonly outcome: 'differs'; readonly reason: string};

/** Less is written and read before anybody waits for it. */
const AT_ONCE_BYTES = 262_144;
/** What a file costs beside its content, in bytes written. */
const FILE_BYTES = 8192;
/** A trip through the thread pool costs several times as much as what is done with a small file. */
const atOnce: Files = {
  mkdir: mkdirSync,
  mkdtemp: mkdtempSync,
  readdir: readdirSync,
  readFile: readFileSync,
  writeFile: writeFileSync,
};
const pooled: Files = {mkdir, mkdtemp, readdir, readFile, writeFile};

interface Files {
  readonly mkdir: (path: string, options: {readonly recursive: boolean; readonly mode: number}) => unknown;
  readonly mkdtemp: (prefix: string) => string | Promise<string>;
  readonly readdir: (path: string) => string[] | Promise<string[]>;
  readonly readFile: (path: string) => Uint8Array | Promise<Uint8Array>;
  readonly writeFile: (path: string, bytes: Uint8Array, options: {readonly mode: number}) => unknown;
}

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
  const {run, warmServer, directory, command = GNU_PATCH} = options;
  const rendered = await inTurns(renderHistories(histories));
  const hunks = bytesOf(rendered.ok ? rendered.value : '');
  const sizes = histories.map(({initial = '', final = ''}) => FILE_BYTES + initial.length + final.length);
  const isSmall = sizes.reduce((sum, size) => sum + size, 0) < AT_ONCE_BYTES;
  const io = isSmall ? atOnce : pooled;
  const askWarm = hunks.length > 0 ? warmServer?.() : undefined;
  if (askWarm !== undefined) {
    const agrees = await inCopy(histories, {directory, io}, async (stage, files) => {
      await io.writeFile(join(stage, 'hunks'), hunks, {mode: 0o600});
      return (await askWarm(stage)) && (await compare(io, files, histories)).outcome === 'agrees';
    });
    if (agrees) return {outcome: 'agrees'};
  }
  return inCopy(histories, {directory, io}, async (stage, files) => {
    const settings = {cwd: files, env: {PATH: stage, TMPDIR: stage, LC_ALL: 'C'}};
    const ask = (args: readonly string[], stdin: Uint8Array) =>
      ifRefusedLater(() => run(command, args, {...settings, stdin}), undefined, 'ENOENT', 'EACCES');
    const tried = hunks.length > 0 ? await ask(PATCH_ARGUMENTS, hunks) : undefined;
    const outcome = await outcomeOf(tried, () => compare(io, files, histories));
    if (tried !== undefined && outcome.outcome === 'agrees') return outcome;
    // Only where it does not agree it has to be known whose word that is.
    const version = await ask(['--version'], new Uint8Array());
    return version?.stdout.startsWith('GNU patch') === true ? outcome : {outcome: 'unavailable'};
  });
}

/** With `files`, the contents under their numbers, in a directory that is gone afterwards. */
async function inCopy<Value>(
  histories: readonly FileHistory[],
  {directory, io}: {readonly directory: string; readonly io: Files},
  work: (stage: string, files: string) => Promise<Value>,
): Promise<Value> {
  await io.mkdir(directory, {recursive: true, mode: 0o700});
  const stage = await io.mkdtemp(join(directory, 'patch-'));
  try {
    const files = join(stage, 'files');
    await io.mkdir(files, {recursive: false, mode: 0o700});
    for (const [number, {initial}] of histories.entries()) {
      if (initial !== undefined)
        await io.writeFile(join(files, fileName(number)), bytesOf(initial), {mode: 0o600});
    }
    return await work(stage, files);
  } finally {
    if (io !== atOnce || !removedAtOnce(stage)) await rm(stage, {recursive: true, force: true});
  }
}

/** False where it is to be tried in another way. */
function removedAtOnce(stage: string): boolean {
  return ifRefused(() => {
    for (const {name, parentPath} of readdirSync(stage, {recursive: true, withFileTypes: true})) {
      if (name !== 'files') unlinkSync(join(parentPath, name));
    }
    rmdirSync(join(stage, 'files'));
    rmdirSync(stage);
    return true;
  }, false);
}

async function outcomeOf(
  tried: Awaited<ReturnType<RunPatch>> | undefined,
  compared: () => Promise<CrossCheck>,
): Promise<CrossCheck> {
  if (tried !== undefined && tried.exitCode !== 0) {
    const said = takeStart(tried.stderr.trim() || tried.stdout.trim(), 300);
    return {outcome: 'differs', reason: `it ended with exit code ${tried.exitCode}: ${said}`};
  }
  return compared();
}

/** Every file has the content we computed, and nothing else is there. */
async function compare(io: Files, directory: string, histories: readonly FileHistory[]): Promise<CrossCheck> {
  const present = new Set(await io.readdir(directory));
  for (const [number, {final}] of histories.entries()) {
    const name = fileName(number);
    if (present.delete(name) !== (final !== undefined)) {
      return {outcome: 'differs', reason: `a file is ${final === undefined ? 'left over' : 'missing'}`};
    }
    if (final !== undefined && byteString(await io.readFile(join(directory, name))) !== final) {
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
