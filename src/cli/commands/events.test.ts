import {appendFileSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

async function recordedRun(): Promise<{readonly run: string; readonly log: string}> {
  const {cwd, env, flags} = cliConfig();
  const run = join(temporaryDirectory(), 'run');
  await runCliHere(['call', 'list_files', '{}', '--run-dir', run, ...flags], {cwd, env});
  return {run, log: join(run, 'events.jsonl')};
}

const verify = (...argv: readonly string[]) => runCliHere(['events', 'verify', ...argv]);

test('policy: events verify finds a run intact, by its directory or its file', async () => {
  const {run, log} = await recordedRun();
  for (const path of [run, log]) {
    const {code, stdout} = await verify(path);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Intact: 4 events, head [0-9a-f]{64}\.\n$/);
  }
});

test('policy: events verify tells half a line of a crash from tampering', async () => {
  const {run, log} = await recordedRun();
  appendFileSync(log, '{"seq":5,"ti');
  const torn = await verify(run);
  expect(torn.code).toBe(0);
  expect(torn.stdout).toMatch(/^Intact up to a crash: 4 events, .* 12 bytes/);

  writeFileSync(log, readFileSync(log, 'utf8').replace('"tool":"list_files"', '"tool":"read_file"'));
  const changed = await verify(run);
  expect(changed.code).toBe(1);
  expect(changed.stdout).toMatch(/^TAMPERED: line 2 does not have the hash of its content/);
  expect(JSON.parse((await verify(run, '--json')).stdout)).toMatchObject({
    state: 'tampered',
    problem: {line: 2},
  });
});

test('policy: a run that is not there is a failure', async () => {
  const {code, stderr} = await verify('/nonexistent/run');
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({code: 'file_not_found'});
});

test.each([[[]], [['verify']], [['check', 'x']], [['verify', 'x', 'y']]])(
  'policy: %j is wrong usage',
  async argv => {
    expect(await runCliHere(['events', ...argv])).toMatchObject({code: 2});
  },
);
