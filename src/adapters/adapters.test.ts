import type Anthropic from '@anthropic-ai/sdk';
import {describe, expect, test} from 'vitest';
import {fail, type Json} from '../core/result.ts';
import {type ToolRequest, type ToolResult, toolError} from '../core/tool.ts';
import type {CallOptions, ToolHost, ToolListing} from '../core/tool-host.ts';
import {renderWebRead, type WebReadData} from '../tools/web/show-read.ts';
import {anthropicTools} from './anthropic.ts';
import {openaiChatTools, openaiTools} from './openai.ts';
import {vercelTools} from './vercel-ai.ts';

const READ_FILE: ToolListing = {
  name: 'read_file',
  title: 'Read a file',
  description: 'Reads a file.',
  annotations: {readOnly: true, destructive: false, idempotent: true, openWorld: false},
  paramsSchema: {type: 'object', properties: {path: {type: 'string'}}, required: ['path']},
  dataSchema: {type: 'object'},
};

function hostOf() {
  const calls: {readonly request: ToolRequest; readonly options: CallOptions | undefined}[] = [];
  const host: ToolHost = {
    listTools: () => [READ_FILE],
    call: async (request, options) => {
      calls.push({request, options});
      const failed = request.params?.['path'] !== 'a.txt';
      const result: ToolResult = {
        request_id: request.request_id ?? '',
        tool: request.tool,
        status: failed ? 'error' : 'success',
        started_at: '2026-01-10T00:00:00.000Z',
        ended_at: '2026-01-10T00:00:00.000Z',
        duration_sec: 0,
        data: failed ? null : {text: 'A'},
        error: failed ? toolError(fail('file_not_found', 'No such file.').error) : null,
        exit_code: null,
        stdout_path: null,
        stderr_path: null,
      };
      return result;
    },
    renderText: ({error}) => (error ? `${error.error_type}: ${error.message}` : 'text of a.txt'),
  };
  return {host, calls};
}

describe('Anthropic', () => {
  test('policy: definitions and answers have the shapes of the Messages API', async () => {
    const {host, calls} = hostOf();
    const {tools, respond} = anthropicTools(host);
    expect(tools).toEqual([
      {name: 'read_file', description: 'Reads a file.', input_schema: READ_FILE.paramsSchema},
    ]);
    const content = [
      {type: 'text', text: 'I read two files.'},
      {type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {path: 'a.txt'}},
      {type: 'tool_use', id: 'toolu_2', name: 'read_file', input: {path: 'b.txt'}},
    ];
    expect(await respond(content, {maxOutputBytes: 1000})).toEqual([
      {type: 'tool_result', tool_use_id: 'toolu_1', content: 'text of a.txt', is_error: false},
      {type: 'tool_result', tool_use_id: 'toolu_2', content: 'file_not_found: No such file.', is_error: true},
    ]);
    expect(calls[0]).toEqual({
      request: {tool: 'read_file', params: {path: 'a.txt'}, request_id: 'toolu_1'},
      options: {maxOutputBytes: 1000},
    });
    expect(await respond([{type: 'text'}])).toEqual([]);
  });

  /** A page as `web_read` and `web_fetch` answer, rendered by the tools themselves. */
  function pageHost(data: object): ToolHost {
    const {host} = hostOf();
    return {
      ...host,
      call: async request => ({
        ...(await host.call({...request, params: {path: 'a.txt'}})),
        data: data as Json,
      }),
      renderText: ({data: shown, tool}) =>
        tool === 'web_read' ? renderWebRead(shown as unknown as WebReadData) : JSON.stringify(shown),
    };
  }

  const use = (name: string) => [{type: 'tool_use', id: 'toolu_1', name, input: {}}];
  const passage = (chunk: number, text: string) => ({
    ...{text, tokens: 2, start: chunk, end: chunk + 1, chunk, last_chunk: chunk},
    section: {number: 1, heading: 'Water'},
  });
  const READ = {
    ...{final_url: 'https://bees.test/', title: 'Bees', fetched_at: '', rendering_method: 'http', notes: []},
    ...{snapshot: 'f00', total_tokens: 9, total_chunks: 9, total_sections: 1},
    passages: [passage(3, 'A litre.\n'), passage(5, 'Or two.')],
    others: [{chunk: 7, section: {number: 2, heading: 'Rest'}}],
  };

  test('policy: with citations, passages are search results behind the frame of the answer', async () => {
    const {respond} = anthropicTools(pageHost(READ), {citations: true});
    // The official types take what is given.
    const [answer]: Anthropic.ToolResultBlockParam[] = await respond(use('web_read'));
    const result = (text: string) => ({
      type: 'search_result',
      source: 'https://bees.test/',
      title: 'Bees – Water',
      content: [{type: 'text', text}],
      citations: {enabled: true},
    });
    expect(answer?.content).toEqual([
      {type: 'text', text: expect.any(String)},
      result('A litre.'),
      result('Or two.'),
    ]);
    const frame = JSON.stringify(answer?.content?.[0]);
    for (const part of ['snapshot f00', 'chunk 3', 'chunk 5', 'also: chunk 7']) expect(frame).toContain(part);
    for (const part of ['litre', 'nothing found']) expect(frame).not.toContain(part);
  });

  test('policy: chunks of web_fetch too; what has no text, failed, or comes of another tool stays a text', async () => {
    const fetched = {
      final_url: 'https://bees.test/',
      chunks: [{heading: '', text: 'A litre.', token_count: 2}],
    };
    const contentOf = async (data: object, tool: string) =>
      (await anthropicTools(pageHost(data), {citations: true}).respond(use(tool)))[0]?.content;
    expect(await contentOf(fetched, 'web_fetch')).toMatchObject([
      {type: 'text'},
      {type: 'search_result', title: 'https://bees.test/', content: [{text: 'A litre.'}]},
    ]);
    expect(await contentOf({...fetched, chunks: []}, 'web_fetch')).toEqual(expect.any(String));
    expect(await contentOf(fetched, 'other')).toEqual(expect.any(String));
    expect(await contentOf({text: 'of another form'}, 'web_fetch')).toEqual(expect.any(String));
    const {respond} = anthropicTools(pageHost(READ));
    expect((await respond(use('web_read')))[0]?.content).toContain('A litre.');
  });
});

describe('OpenAI', () => {
  test('policy: definitions and answers have the shapes of the Responses API', async () => {
    const {host, calls} = hostOf();
    const {tools, respond} = openaiTools(host);
    expect(tools).toEqual([
      {
        type: 'function',
        name: 'read_file',
        description: 'Reads a file.',
        parameters: READ_FILE.paramsSchema,
        strict: false,
      },
    ]);
    const output = [
      {type: 'reasoning', id: 'rs_1'},
      {type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a.txt"}'},
      {type: 'function_call', call_id: 'call_2', name: 'read_file', arguments: '{"path":'},
      {type: 'function_call', call_id: 'call_3', name: 'read_file', arguments: ''},
    ];
    expect(await respond(output)).toEqual([
      {type: 'function_call_output', call_id: 'call_1', output: 'text of a.txt'},
      {
        type: 'function_call_output',
        call_id: 'call_2',
        output:
          'invalid_params: The arguments of read_file are not valid JSON. Call again with one JSON object.',
      },
      {type: 'function_call_output', call_id: 'call_3', output: 'file_not_found: No such file.'},
    ]);
    expect(calls.map(({request}) => request.params)).toEqual([{path: 'a.txt'}, {}]);
  });

  test('policy: definitions and answers have the shapes of Chat Completions', async () => {
    const {host} = hostOf();
    const {tools, respond} = openaiChatTools(host);
    expect(tools).toEqual([
      {
        type: 'function',
        function: {name: 'read_file', description: 'Reads a file.', parameters: READ_FILE.paramsSchema},
      },
    ]);
    const calls = [
      {type: 'function', id: 'call_1', function: {name: 'read_file', arguments: '{"path":"a.txt"}'}},
      {type: 'custom', id: 'call_2', custom: {name: 'x', input: ''}},
    ];
    expect(await respond(calls)).toEqual([{role: 'tool', tool_call_id: 'call_1', content: 'text of a.txt'}]);
    expect(await respond(undefined)).toEqual([]);
    expect(await respond(null)).toEqual([]);
  });
});

describe('Vercel AI SDK', () => {
  test('policy: the program gets the ToolResult, the model its text', async () => {
    const {host, calls} = hostOf();
    const {read_file: tool} = vercelTools(host, schema => ({wrapped: schema}));
    expect(tool).toMatchObject({
      type: 'dynamic',
      title: 'Read a file',
      description: 'Reads a file.',
      inputSchema: {wrapped: READ_FILE.paramsSchema},
    });
    const {signal} = new AbortController();
    const good = await tool?.execute({path: 'a.txt'}, {toolCallId: 'c1', abortSignal: signal});
    const bad = await tool?.execute({path: 'b.txt'}, {toolCallId: 'c2'});
    expect(good).toMatchObject({request_id: 'c1', status: 'success', data: {text: 'A'}});
    expect(calls.map(({options}) => options)).toEqual([{signal}, {}]);
    expect(tool?.toModelOutput({output: good})).toEqual({type: 'text', value: 'text of a.txt'});
    expect(tool?.toModelOutput({output: bad})).toEqual({
      type: 'error-text',
      value: 'file_not_found: No such file.',
    });
  });
});
