// Finds and runs ripgrep.
import {createRequire} from 'node:module';
import {delimiter, dirname, isAbsolute, relative} from 'node:path';
import {packageFile} from '../../core/package-file.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/cut.ts';
import {findProgram, isProgramToTrust} from '../../system/find-program.ts';
import type {ProcessEnd, ProcessRequest, ProcessRunner} from '../process-runner.ts';

/** Where `rg` is looked for besides its package. */
export interface RipgrepPlaces {
  /** The directories of a `PATH`. */
  readonly directories: readonly string[];
  /** Its real path. What lies in it is never run: whoever writes there would write our programs (review R3, R8). */
  readonly workspaceRoot: string;
  /** Absolute paths below the root that no tool and no command can change, such as the package with all it loads. */
  readonly protectedPaths: readonly string[];
}

/** The absolute path of ripgrep: of the package `@vscode/ripgrep`, else of the system or the `PATH`. */
export async function findRipgrep(
  places: RipgrepPlaces,
  findPackaged: () => string | undefined = packagedRipgrep,
): Promise<Result<string>> {
  const {directories, workspaceRoot, protectedPaths} = places;
  const untrustedTrees = [workspaceRoot];
  const packaged = findPackaged();
  if (packaged !== undefined && (await isProgramToTrust(packaged, untrustedTrees))) return ok(packaged);
  const found = await findProgram('rg', {path: directories.join(delimiter), untrustedTrees});
  if (found !== undefined) return ok(found);
  if (packaged !== undefined) {
    // Installed in the workspace beside this package, it is as trustworthy as our own code, and protected with it.
    const isProtected = protectedPaths.some(path => isInside(path, packaged));
    if (isProtected && (await isProgramToTrust(packaged, []))) return ok(packaged);
    return fail(
      'ripgrep_unavailable',
      `ripgrep was found at ${JSON.stringify(packaged)} only, where it is not run: it lies in the workspace, or others can replace it. Install it for the system (\`apt-get install ripgrep\`), or forge-tools outside the workspace.`,
      {error: 'not_trusted'},
    );
  }
  return fail(
    'ripgrep_unavailable',
    'ripgrep is not installed. Install it (`apt-get install ripgrep`), or the optional package @vscode/ripgrep.',
    {error: 'not_found'},
  );
}

function isInside(directory: string, path: string): boolean {
  const inside = relative(directory, path);
  return inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
}

const PACKAGE = '@vscode/ripgrep';

/**
 * The program of the package `@vscode/ripgrep`, which keeps it in a package for each platform. It is looked up by name and
 * not imported: a bundler that follows the import takes the program for code.
 */
export function packagedRipgrep(): string | undefined {
  const program = process.platform === 'win32' ? 'rg.exe' : 'rg';
  try {
    const entry = createRequire(packageFile('package.json')).resolve(PACKAGE);
    return createRequire(entry).resolve(`${PACKAGE}-${process.platform}-${process.arch}/bin/${program}`);
  } catch {
    // There is no binary for the platform, or the package was left out.
    return undefined;
  }
}

export interface Query {
  readonly text: string;
  /** Otherwise it is searched for as it is. */
  readonly isRegex: boolean;
  /** Default: in any case. */
  readonly caseSensitive?: boolean | undefined;
  readonly wholeWord?: boolean | undefined;
  /** A match may span lines, never two files. */
  readonly multiline?: boolean | undefined;
}

/**
 * How lines are matched, the same wherever they are. `none` as encoding: what is text is UTF-8, as for
 * read_file. `-e` and `--` keep a query such as `--pre=…`, which would execute a program, a query.
 */
export function queryArguments(
  {text, isRegex, caseSensitive = false, wholeWord = false, multiline = false}: Query,
  path: string,
): readonly string[] {
  return [
    ...(caseSensitive ? [] : ['--ignore-case']),
    ...(wholeWord ? ['--word-regexp'] : []),
    // What ripgrep then takes for a line is a whole file: NUL is between them, and none of them has one.
    multiline ? '--null-data' : '--crlf',
    '--encoding=none',
    '--no-mmap',
    ...(isRegex ? [] : ['--fixed-strings']),
    '-e',
    text,
    '--',
    path,
  ];
}

/** How ripgrep is run. */
export interface Ripgrep {
  /** Absolute path of the program. */
  readonly command: string;
  readonly processes: ProcessRunner;
}

export type RipgrepRun = Pick<ProcessRequest, 'args' | 'stdin' | 'onStdout' | 'signal'> & {
  /** Default: a bound for those who keep it. */
  readonly maxStdoutBytes?: number;
};

const MAX_STDOUT_BYTES = 256 * 1024 * 1024;
const SHOWN_CHARACTERS = 2000;

/**
 * Every run: no configuration file (it could name a program to execute), no environment. `stopped` where
 * `onStdout` had enough, `aborted` where the signal fired.
 */
export async function runRipgrep(
  {command, processes}: Ripgrep,
  {args, stdin, onStdout, signal, maxStdoutBytes = MAX_STDOUT_BYTES}: RipgrepRun,
): Promise<Result<'complete' | 'stopped' | 'aborted'>> {
  const end = await processes.run({
    command,
    args: ['--no-config', '--color=never', ...args],
    // It gets what it searches on stdin. Where it is run does not matter, so not in the workspace.
    cwd: dirname(command),
    stdin,
    onStdout,
    maxStdoutBytes,
    signal,
  });
  switch (end.end) {
    case 'exited':
      return readExit(end, end.stderr.trim());
    case 'stopped':
    case 'aborted':
      return ok(end.end);
    case 'capped':
      return refused(`its output exceeded ${MAX_STDOUT_BYTES} bytes`, null);
    case 'broken':
      return refused(`the connection to it failed (${end.error})`, null);
    case 'not_started':
      return fail('ripgrep_unavailable', `ripgrep could not be started: ${end.error}. Install it anew.`, {
        error: end.error,
      });
  }
}

type ExitedProcess = Extract<ProcessEnd, {readonly end: 'exited'}>;

/** 0 is for matches, 1 for none, 2 for an error. */
function readExit({exitCode, unread}: ExitedProcess, stderr: string): Result<'complete'> {
  if (exitCode === 0 || exitCode === 1) {
    // What it did not read it did not search.
    return unread === undefined
      ? ok('complete')
      : refused(`the connection to it failed (${unread})`, exitCode);
  }
  if (exitCode === null) return refused('it was killed by a signal', exitCode);
  return refused(stderr.replace(/^rg: /, '') || `it ended with exit code ${exitCode}`, exitCode);
}

function refused(error: string, exitCode: number | null): Err<Failure> {
  const words = takeStart(error, SHOWN_CHARACTERS);
  return fail('ripgrep_error', `ripgrep refused the search: ${words}\nCorrect the query.`, {
    error: words,
    exit_code: exitCode,
  });
}
