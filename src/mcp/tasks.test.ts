import {type CallToolResult, createMcpHandler} from '@modelcontextprotocol/server';
import {expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {createToolbox} from '../index.ts';
import {createMcpService} from './create-mcp-service.ts';
import {TaskStore} from './tasks.ts';

const done: CallToolResult = {content: [{type: 'text', text: 'done'}]};
const question = {
  method: 'elicitation/create',
  params: {mode: 'form', message: '?', requestedSchema: {type: 'object', properties: {}}},
} as const;

test('W21: a task is there as soon as it is handed out, and keeps its result for its time', async () => {
  const clock = createManualClock();
  const tasks = new TaskStore(clock);
  const task = tasks.create({ttlMs: 1000, statusMessage: 'Runs.', work: async () => done});
  expect(task).toMatchObject({status: 'working', ttlMs: 1000, statusMessage: 'Runs.'});
  const id = task?.taskId ?? '';
  expect(tasks.get(id)).toEqual(task);
  await Promise.resolve();
  expect(tasks.get(id)).toMatchObject({status: 'completed', result: done});
  expect(tasks.cancel(id)).toBe(true);
  expect(tasks.get(id)).toMatchObject({status: 'completed'});
  clock.advance(1001);
  expect(tasks.get(id)).toBeUndefined();
  expect(tasks.cancel(id)).toBe(false);
  expect(tasks.update(id, {})).toBe(false);
});

test('W21: what throws has failed, what is cancelled stays cancelled', async () => {
  const tasks = new TaskStore(createManualClock());
  const failed = tasks.create({ttlMs: 1000, work: async () => Promise.reject(new Error('Broken.'))});
  let isAborted = false;
  const cancelled = tasks.create({
    ttlMs: 1000,
    work: ({signal}) =>
      new Promise(resolve => {
        signal.addEventListener('abort', () => {
          isAborted = true;
          resolve(done);
        });
      }),
  });
  expect(tasks.cancel(cancelled?.taskId ?? '')).toBe(true);
  await new Promise(resolve => setImmediate(resolve));
  expect(isAborted).toBe(true);
  expect(tasks.get(cancelled?.taskId ?? '')?.status).toBe('cancelled');
  expect(tasks.get(failed?.taskId ?? '')).toMatchObject({
    status: 'failed',
    error: {code: -32_603, message: 'Broken.'},
  });
});

test('W21: a task that asks waits until all of it is answered', async () => {
  const tasks = new TaskStore(createManualClock());
  const task = tasks.create({
    ttlMs: 1000,
    work: async ({ask}) => {
      const answers = await ask({a: question, b: question});
      return {content: [{type: 'text', text: Object.keys(answers).join()}]};
    },
  });
  const id = task?.taskId ?? '';
  expect(tasks.get(id)).toMatchObject({status: 'input_required', inputRequests: {a: question, b: question}});
  tasks.update(id, {a: {action: 'accept'}, other: {action: 'accept'}});
  expect(tasks.get(id)?.inputRequests).toEqual({b: question});
  tasks.update(id, {b: {action: 'decline'}});
  await new Promise(resolve => setImmediate(resolve));
  expect(tasks.get(id)).toMatchObject({status: 'completed', result: {content: [{text: 'a,b'}]}});
});

const REVISION = '2026-07-28';

/** A client of revision 2026-07-28 over the whole toolbox. */
function open(capabilities: object) {
  const directory = temporaryDirectory();
  const toolbox = createToolbox({
    workspace: directory,
    runDirectory: `${directory}-run`,
    config: {
      tools: {mode: 'enabled', approval: {mode: 'auto'}, run: {sandbox: 'none', allow_insecure_none: true}},
    },
  });
  onTestFinished(() => toolbox.close());
  const handler = createMcpHandler(createMcpService(toolbox, {version: '1'}).createServer);
  return async (method: string, params: {[name: string]: unknown}, name: string) => {
    const response = await handler.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': REVISION,
          'mcp-method': method,
          'mcp-name': name,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method,
          params: {
            ...params,
            _meta: {
              'io.modelcontextprotocol/protocolVersion': REVISION,
              'io.modelcontextprotocol/clientInfo': {name: 'test', version: '1'},
              'io.modelcontextprotocol/clientCapabilities': capabilities,
            },
          },
        }),
      }),
    );
    return (await response.json()) as {
      readonly result?: {readonly [name: string]: unknown};
      readonly error?: {readonly code: number};
    };
  };
}

const TASKS = {extensions: {'io.modelcontextprotocol/tasks': {}}};
const run = (command: string) => ({name: 'run', arguments: {command, background: true}});

async function settled(ask: ReturnType<typeof open>, taskId: string) {
  for (;;) {
    const {result} = await ask('tasks/get', {taskId}, taskId);
    if (result?.['status'] !== 'working') return result;
    // The command needs a turn of the event loop too.
    await new Promise(resolve => setImmediate(resolve));
  }
}

test('W21: a client that takes tasks gets the end of a command in the background as one', {
  tags: 'slow',
}, async () => {
  const ask = open(TASKS);
  const {result: task} = await ask('tools/call', run('echo out; exit 3'), 'run');
  expect(task).toMatchObject({
    resultType: 'task',
    taskId: expect.any(String),
    statusMessage: expect.stringContaining('read_output step=1'),
  });
  expect(await settled(ask, String(task?.['taskId']))).toMatchObject({
    status: 'completed',
    result: {
      content: [
        {text: expect.stringMatching(/^Step 1 ended with exit code 3 .*\nEnd of its output .*:\nout$/)},
      ],
      structuredContent: {
        tool: 'run',
        exit_code: 3,
        data: {exit_code: 3, stdout: 'out', background: {step: 1}},
      },
    },
  });
});

test('W21: a task that is cancelled has its command stopped', async () => {
  const ask = open(TASKS);
  const taskId = String((await ask('tools/call', run('sleep 600'), 'run')).result?.['taskId']);
  expect((await ask('tasks/cancel', {taskId}, taskId)).result).toMatchObject({resultType: 'complete'});
  expect(await settled(ask, taskId)).toMatchObject({status: 'cancelled'});
  const waited = await ask('tools/call', {name: 'wait_for', arguments: {step: 1}}, 'wait_for');
  expect(waited.result?.['structuredContent']).toMatchObject({
    data: {outcome: 'ended', background: {ended: 'stopped'}},
  });
});

test('W21: a client without tasks gets the handle, and may ask for no task', {tags: 'slow'}, async () => {
  const ask = open({});
  const {result} = await ask('tools/call', run('sleep 600'), 'run');
  expect(result).toMatchObject({resultType: 'complete', structuredContent: {data: {background: {step: 1}}}});
  expect((await ask('tasks/get', {taskId: 'x'}, 'x')).error?.code).toBe(-32_021);
});
