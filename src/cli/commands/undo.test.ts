import {resolve} from 'node:path';
import {expect, test} from 'vitest';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {fail, ok} from '../../core/result.ts';
import type {UndoRequest} from '../toolbox-services.ts';

const locateRun = async (run: string) => ok(resolve('/srv', run));

test('ruling W7 undo asks for one step of one run in one workspace, and names the files', async () => {
  const requests: UndoRequest[] = [];
  const undoStep = async (request: UndoRequest) => {
    requests.push(request);
    return ok({step: request.step, restored_files: ['a.txt', 'b\u001b[1m.txt']});
  };
  const options = {cwd: '/srv', services: {undoStep, locateRun}};
  const {code, stdout} = await runCliHere(['undo', 'runs/1', '4', '--workspace', 'project'], options);
  expect(code).toBe(0);
  expect(stdout).toBe('Step 4 is taken back:\n  "a.txt"\n  "b\\u001b[1m.txt"\n');
  await runCliHere(['undo', '/runs/1', '4', '--json'], options);
  expect(requests).toEqual([
    {runDirectory: '/srv/runs/1', workspace: '/srv/project', step: 4},
    {runDirectory: '/runs/1', workspace: '/srv', step: 4},
  ]);
});

test('policy: what cannot be undone is a failure', async () => {
  const undoStep = async () => fail('stale_read', 'Step 4 cannot be undone.', {path: 'a.txt'});
  const {code, stdout, stderr} = await runCliHere(['undo', 'r', '4'], {services: {undoStep, locateRun}});
  expect({code, stdout}).toEqual({code: 1, stdout: ''});
  expect(JSON.parse(stderr)).toMatchObject({code: 'stale_read'});
});

test.each([[[]], [['run']], [['run', 'x']], [['run', '0']], [['run', '1', '2']]])(
  'policy: %j is wrong usage',
  async argv => {
    expect(await runCliHere(['undo', ...argv])).toMatchObject({code: 2});
  },
);
