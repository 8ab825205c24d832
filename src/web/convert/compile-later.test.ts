import {execFileSync, spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {packageFile} from '../../core/package-file.ts';
import {compilerFlag} from './compile-later.ts';

describe('what V8 is told of when to optimise', () => {
  test('it knows', () => {
    const flag = compilerFlag(process.versions.node);
    const {status, stderr} = spawnSync(process.execPath, [...(flag === undefined ? [] : [flag]), '-e', '0'], {
      encoding: 'utf8',
    });
    expect({status, stderr}).toEqual({status: 0, stderr: ''});
  });

  test('lines of Node of which nothing was measured are told nothing', () => {
    expect(['18.20.0', '24.0.0', '26.1.0', ''].map(compilerFlag)).toEqual(Array(4).fill(undefined));
  });

  test('a process that is not ours keeps its settings, ours does not', {tags: 'slow'}, () => {
    const isTold = compilerFlag(process.versions.node) !== undefined;
    expect([isOptimized(false), isOptimized(true)]).toEqual([isTold, false]);
  });
});

/** Whether V8 takes a function for hot that has run 1,500 times, once a thread has done a job. */
function isOptimized(ownsProcess: boolean): boolean {
  const program = `
    const [{WorkerPool, DEFAULT_WORKER_POOL}, {Deadline}, {systemClock}] = await Promise.all([
      import(${JSON.stringify(packageFile('dist/web/convert/worker-pool.js'))}),
      import(${JSON.stringify(packageFile('dist/core/deadline.js'))}),
      import(${JSON.stringify(packageFile('dist/core/clock.js'))}),
    ]);
    const workers = new WorkerPool({...DEFAULT_WORKER_POOL, ownsProcess: ${ownsProcess}});
    const budget = new Deadline(60_000, systemClock);
    const job = {kind: 'chunk', markdown: 'Some words. '.repeat(20_000), maxTokens: 600};
    const {ok} = await workers.run(job, budget);
    if (!ok) throw new Error('The job failed.');
    budget.close();
    await workers.close();
    let sum = 0;
    function runOften(at) { for (let step = 0; step < 4; step++) sum = (sum + at * step) | 0; }
    for (let at = 0; at < 1500; at++) runOften(at);
  `;
  const file = join(temporaryDirectory(), 'program.mjs');
  writeFileSync(file, program);
  const output = execFileSync(process.execPath, ['--trace-opt', file], {encoding: 'utf8'});
  return /marking .*runOften.* for optimization to TURBOFAN/.test(output);
}
