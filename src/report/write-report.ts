// Makes the page of a run and writes it.
import {lstat} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import {ioFailure, type LogCheck} from '../runtime/event-log.ts';
import {replaceFile} from '../system/replace-file.ts';
import {netChanges} from './net-changes.ts';
import {renderLines} from './render-line.ts';
import {loadAssets, renderChangesLine, renderPage} from './render-page.ts';
import {stateOf} from './run-history.ts';
import {RunReader} from './run-reader.ts';

/** Of the data of a page; a browser on a phone has to hold it. */
const MOST_CHARACTERS = 24_000_000;

export interface WrittenReport {
  readonly path: string;
  readonly bytes: number;
  readonly calls: number;
  readonly refused: number;
  readonly failed: number;
  /** Files that are not as the run found them. */
  readonly changed: number;
  readonly durationSec: number;
  readonly log: LogCheck['state'];
  /** Artifacts that are not what the log vouches for. */
  readonly altered: number;
}

/** Makes the page of a run and writes it, in one step and readable by its owner alone. */
export async function writeReport(run: string, out: string | undefined): Promise<Result<WrittenReport>> {
  const path = out ?? join(run, 'report.html');
  const problem = await unusable(path);
  if (problem !== undefined) return problem;
  const reader = new RunReader(run);
  const read = await reader.readOn();
  if (!read.ok) return read;
  const lines = await renderLines(reader, MOST_CHARACTERS);
  const changes = await netChanges(run, reader.history.calls.values());
  const cut = lines.filter(({isCut}) => isCut).length;
  const altered = lines.reduce((sum, line) => sum + line.altered, 0);
  const notes = [
    ...(altered > 0
      ? [`${altered} files of the run are missing or were changed after they were written.`]
      : []),
    ...(cut > 0 ? [`${cut} calls are shown in part. All of them is in the run directory.`] : []),
  ];
  const head = await reader.head(notes);
  const text = renderPage(
    head,
    [renderChangesLine(changes), ...lines.map(({line}) => line)],
    await loadAssets(),
    false,
  );
  try {
    await replaceFile(path, text);
  } catch (error) {
    return ioFailure(error, path, 'write the report');
  }
  const {history} = reader;
  const count = (state: string): number =>
    [...history.calls.values()].filter(call => stateOf(call) === state).length;
  return ok({
    path,
    bytes: Buffer.byteLength(text),
    calls: history.calls.size,
    refused: count('refused'),
    failed: count('failed') + count('lost'),
    changed: changes.files.length + changes.more,
    durationSec: ((history.lastAt ?? 0) - (history.firstAt ?? 0)) / 1000,
    log: read.value.state,
    altered,
  });
}

async function unusable(path: string): Promise<Err<Failure> | undefined> {
  const refuse = (reason: string): Err<Failure> =>
    fail('io_error', `The report cannot be written to ${JSON.stringify(path)}: ${reason}`, {
      path,
      operation: 'write the report',
    });
  const target = await lstat(path).catch(() => undefined);
  if (target?.isDirectory()) return refuse('it is a directory. Name a file in it.');
  if (target !== undefined && !target.isFile()) return refuse('it is no regular file. Name another one.');
  const parent = await lstat(dirname(path)).catch(() => undefined);
  return parent === undefined
    ? refuse(`there is no directory ${dirname(path)}. Create it first.`)
    : undefined;
}
