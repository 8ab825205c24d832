import {createMcpHandler} from '@modelcontextprotocol/server';
import {expect, test} from 'vitest';
import {createFixtureHost, type FixtureTool, guarded} from '../../test/support/fixture-tool-host.ts';
import {RedeemedStates} from './call-tool.ts';
import {createMcpService} from './create-mcp-service.ts';

const REVISION = '2026-07-28';

interface Answer {
  readonly result?: {
    readonly resultType: string;
    readonly requestState?: string;
    readonly inputRequests?: {readonly approval: {readonly params: {readonly message: string}}};
    readonly structuredContent?: unknown;
    readonly isError?: boolean;
  };
  readonly error?: {readonly code: number; readonly data?: unknown};
}

/** A client of revision 2026-07-28 that sends what it likes. */
function open(tool: FixtureTool, capabilities: object = {elicitation: {form: {}}}) {
  const handler = createMcpHandler(
    createMcpService(createFixtureHost({edit: tool}), {version: '1'}).createServer,
  );
  return async (params: object): Promise<Answer> => {
    const response = await handler.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': REVISION,
          'mcp-method': 'tools/call',
          'mcp-name': 'edit',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: 'edit',
            _meta: {
              'io.modelcontextprotocol/protocolVersion': REVISION,
              'io.modelcontextprotocol/clientInfo': {name: 'test', version: '1'},
              'io.modelcontextprotocol/clientCapabilities': capabilities,
            },
            ...params,
          },
        }),
      }),
    );
    return (await response.json()) as Answer;
  };
}

const yes = {approval: {action: 'accept', content: {decision: 'once'}}};

test('2026-07-28 the first call ends at its question, the second does the work', async () => {
  const done: unknown[] = [];
  const call = open(guarded(request => void done.push(request)));
  const {result} = await call({arguments: {text: 'a'}});
  expect(result).toMatchObject({resultType: 'input_required'});
  expect(result?.inputRequests?.approval.params.message).toContain('Allow edit?');
  expect(done).toHaveLength(0);
  const again = await call({arguments: {text: 'a'}, inputResponses: yes, requestState: result?.requestState});
  expect(again.result).toMatchObject({resultType: 'complete', structuredContent: {status: 'success'}});
  expect(done).toHaveLength(1);
});

test('2026-07-28 allowed once is once: the same answer sent again is asked for again', async () => {
  const done: unknown[] = [];
  const call = open(guarded(request => void done.push(request)));
  const requestState = (await call({})).result?.requestState;
  const answers = [
    await call({inputResponses: yes, requestState}),
    await call({inputResponses: yes, requestState}),
  ];
  expect(answers.map(({result}) => result?.resultType)).toEqual(['complete', 'input_required']);
  expect(done).toHaveLength(1);
});

test('2026-07-28 an answer does nothing without the state that was signed here', async () => {
  const done: unknown[] = [];
  const call = open(guarded(request => void done.push(request)));
  const {result} = await call({});
  const state = result?.requestState ?? '';
  expect((await call({inputResponses: yes})).result).toMatchObject({resultType: 'input_required'});
  for (const requestState of [`${state}x`, state.replace('v1.', 'v2.'), 'v1.e30.AAAA', '']) {
    expect((await call({inputResponses: yes, requestState})).error).toMatchObject({code: -32_602});
  }
  const foreign = await open(guarded(() => {}))({});
  const other = await call({inputResponses: yes, requestState: foreign.result?.requestState});
  expect(other.error).toMatchObject({code: -32_602, data: {reason: 'invalid_request_state'}});
  expect(done).toHaveLength(0);
});

test('2026-07-28 an answer to one call is none to another, nor to what changed meanwhile', async () => {
  const done: unknown[] = [];
  let preview = 'first';
  const tool: FixtureTool = (request, options) =>
    guarded(r => void done.push(r), {preview})(request, options);
  const call = open(tool);
  const {result} = await call({arguments: {text: 'a'}});
  const requestState = result?.requestState;
  const other = await call({arguments: {text: 'b'}, inputResponses: yes, requestState});
  expect(other.result).toMatchObject({resultType: 'input_required'});
  preview = 'second';
  const later = await call({arguments: {text: 'a'}, inputResponses: yes, requestState});
  expect(later.result?.inputRequests?.approval.params.message).toContain('| second');
  expect(done).toHaveLength(0);
});

test('2026-07-28 an answer that cannot be read is asked for again', async () => {
  const call = open(guarded(() => {}));
  const requestState = (await call({})).result?.requestState;
  for (const approval of [
    {action: 'accept'},
    {action: 'accept', content: {decision: 'yes'}},
    {action: 'maybe'},
  ]) {
    const {result} = await call({inputResponses: {approval}, requestState});
    expect(result).toMatchObject({resultType: 'input_required'});
  }
});

test.each([{}, {elicitation: {url: {}}}])(
  'ruling H3 a client that shows no forms is not asked: %j',
  async declared => {
    const {result} = await open(
      guarded(() => {}),
      declared,
    )({});
    expect(result).toMatchObject({
      isError: true,
      structuredContent: {error: {error_type: 'approval_required', details: {approval_id: 'abc'}}},
    });
  },
);

test('red team F26: an answer never counts twice, however many others are used in between', () => {
  const states = new RedeemedStates(10);
  const first = {nonce: 'first', askedAt: 1};
  const late = {nonce: 'late', askedAt: 2};
  expect([states.add(first), states.add(first)]).toEqual([true, false]);
  for (let at = 3; at < 1000; at += 1) {
    expect(states.add({nonce: `${at}`, askedAt: at})).toBe(true);
    expect(states.add({nonce: `${at}`, askedAt: at})).toBe(false);
    expect(states.add(first)).toBe(false);
  }
  // Whether this one was used is not known any more.
  expect(states.add(late)).toBe(false);
});

test('red team F26: questions of one moment are all remembered or all asked anew', () => {
  const states = new RedeemedStates(10);
  const used = Array.from({length: 100}, (_, at) => ({nonce: `${at}`, askedAt: 5}));
  for (const state of used) states.add(state);
  expect(used.map(state => states.add(state))).not.toContain(true);
  expect(states.add({nonce: 'next', askedAt: 6})).toBe(true);
});
