import {ok, type Result} from '../../core/result.ts';
import type {Glob} from '../glob/compile-glob.ts';
import type {IgnoreRules} from '../glob/ignore-rules.ts';
import {printedPath} from './printed-path.ts';
import {type Query, queryArguments} from './query-arguments.ts';
import {type Ripgrep, runRipgrep} from './run-ripgrep.ts';
import {withIgnoreFile} from './with-ignore-file.ts';

export interface FileCount {
  readonly path: string;
  /** Matching lines. */
  readonly lines: number;
}

export interface MatchCounts {
  /** In no order. */
  readonly files: readonly FileCount[];
  /** False where the signal fired before all files were looked at. */
  readonly complete: boolean;
}

const NUL = 0;
const NEWLINE = 10;

/**
 * W4: how many lines match in which files. The whole workspace has to be searched for an exact total, but
 * only a number comes back for each file, so that a million matches cost no more than one.
 */
export async function countMatches(
  ripgrep: Ripgrep,
  query: Query,
  glob: Glob | undefined,
  ignored: IgnoreRules,
  signal: AbortSignal,
): Promise<Result<MatchCounts>> {
  const files: FileCount[] = [];
  let rest: Uint8Array = new Uint8Array();
  const globs = glob?.patterns.flatMap(pattern => ['-g', pattern]) ?? [];
  const run = await withIgnoreFile(ripgrep, ignored, walking =>
    runRipgrep(ripgrep, {
      args: ['--count', '--with-filename', '--null', ...globs, ...walking, ...queryArguments(query, '.')],
      onStdout: part => {
        const bytes = rest.length === 0 ? part : Buffer.concat([rest, part]);
        rest = bytes.slice(readCounts(bytes, files));
        return true;
      },
      signal,
    }),
  );
  return run.ok ? ok({files, complete: run.value === 'complete'}) : run;
}

/** `path NUL count LF` again and again; a path may contain line feeds. Returns where the incomplete rest begins. */
function readCounts(bytes: Uint8Array, files: FileCount[]): number {
  let start = 0;
  for (;;) {
    const nul = bytes.indexOf(NUL, start);
    const newline = nul === -1 ? -1 : bytes.indexOf(NEWLINE, nul);
    if (newline === -1) return start;
    const path = printedPath(bytes.subarray(start, nul));
    let lines = 0;
    // With --crlf, lines end so in the output too.
    for (const byte of bytes.subarray(nul + 1, newline)) if (byte >= 0x30) lines = lines * 10 + (byte - 0x30);
    if (path !== undefined && lines > 0) files.push({path, lines});
    start = newline + 1;
  }
}
