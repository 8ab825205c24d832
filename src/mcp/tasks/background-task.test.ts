import {createMcpHandler} from '@modelcontextprotocol/server';
import {expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {createToolbox} from '../../index.ts';
import {createMcpService} from '../create-mcp-service.ts';

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
