import {ok, type Result} from '../../core/result.ts';
import {attempt} from '../io-failure.ts';
import type {Workspace} from '../jail.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import type {FileCount} from './count-matches.ts';
import {type Query, queryArguments} from './query-arguments.ts';
import {type Ripgrep, runRipgrep} from './run-ripgrep.ts';

export interface MatchLocation {
  readonly path: WorkspacePath;
  /** From 1. */
  readonly line: number;
  /** Byte of the line where its first match begins, from 0. */
  readonly column: number;
}

interface FileStart {
  readonly path: WorkspacePath;
  /** Lines of the files before it. */
  readonly linesBefore: number;
}

const NEWLINE = 10;
const BLOCK_BYTES = 64 * 1024;

/**
 * The first matching lines of the files, in their order. W1: the files are read through the jail and
 * handed over on stdin, one behind the other, so that ripgrep itself opens nothing, whatever lies at
 * their paths by now. Only numbers are taken from it.
 */
export async function locateMatches(
  ripgrep: Ripgrep,
  workspace: Pick<Workspace, 'resolve' | 'openFile'>,
  query: Query,
  files: readonly FileCount[],
  maxMatches: number,
  signal: AbortSignal,
): Promise<Result<readonly MatchLocation[]>> {
  const starts: FileStart[] = [];
  const found: {readonly line: number; readonly column: number}[] = [];
  let rest: Uint8Array = new Uint8Array();
  const run = await runRipgrep(ripgrep, {
    args: [
      '--text',
      '--line-number',
      '--column',
      '--no-heading',
      '--no-filename',
      // Of the lines themselves nothing is needed, and one may be as long as its file.
      '--max-columns=1',
      ...queryArguments(query, '-'),
    ],
    stdin: readFiles(workspace, files, maxMatches, starts),
    onStdout: part => {
      const bytes = rest.length === 0 ? part : Buffer.concat([rest, part]);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        const [line = '', column = ''] = Buffer.from(bytes.subarray(start, end))
          .toString('latin1')
          .split(':', 2);
        found.push({line: Number(line), column: Number(column) - 1});
        start = end + 1;
      }
      rest = bytes.slice(start);
      return found.length < maxMatches;
    },
    signal,
  });
  if (!run.ok) return run;
  return ok(found.slice(0, maxMatches).flatMap(({line, column}) => place(starts, line, column)));
}

function place(starts: readonly FileStart[], line: number, column: number): MatchLocation[] {
  const start = starts.findLast(({linesBefore}) => linesBefore < line);
  return start === undefined ? [] : [{path: start.path, line: line - start.linesBefore, column}];
}

async function* readFiles(
  workspace: Pick<Workspace, 'resolve' | 'openFile'>,
  files: readonly FileCount[],
  maxMatches: number,
  starts: FileStart[],
): AsyncGenerator<Uint8Array> {
  let expected = 0;
  let lines = 0;
  for (const {path, lines: matching} of files) {
    if (expected >= maxMatches) return;
    const resolved = workspace.resolve(path);
    // What vanished or was exchanged since it was counted is not there.
    const file = resolved.ok ? await workspace.openFile(resolved.value) : resolved;
    if (!file.ok) continue;
    starts.push({path: file.value.path, linesBefore: lines});
    expected += matching;
    let last = NEWLINE;
    try {
      for (let at = 0; ; ) {
        const block = new Uint8Array(BLOCK_BYTES);
        const here = at;
        const read = await attempt(path, 'read', () => file.value.read(block, here));
        if (!read.ok || read.value === 0) break;
        const part = block.subarray(0, read.value);
        for (let next = part.indexOf(NEWLINE); next !== -1; next = part.indexOf(NEWLINE, next + 1))
          lines += 1;
        last = part.at(-1) ?? last;
        at += read.value;
        yield part;
      }
    } finally {
      await file.value.close();
    }
    if (last !== NEWLINE) {
      lines += 1;
      yield Uint8Array.of(NEWLINE);
    }
  }
}
