import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createToolbox, type Toolbox, type ToolboxOptions} from '../../src/index.ts';
import {startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {createManualClock} from '../support/manual-clock.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

type WebFetchConfig = NonNullable<NonNullable<NonNullable<ToolboxOptions['config']>['tools']>['webfetch']>;

function open(port: number, webfetch: WebFetchConfig = {}, options: Omit<ToolboxOptions, 'config'> = {}) {
  const toolbox = createToolbox({
    workspace: temporaryDirectory(),
    runDirectory: join(temporaryDirectory(), 'run'),
    ...options,
    config: {
      tools: {
        mode: 'enabled',
        webfetch: {
          enabled: true,
          cache_dir: '',
          ...webfetch,
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]},
        },
      },
    },
  });
  onTestFinished(() => toolbox.close());
  return toolbox;
}

test('ADR-REG-1 glob, web_fetch and str_replace are registered, each with its schemas', () => {
  const listed = new Map(
    open(80)
      .listTools()
      .map(tool => [tool.name, tool]),
  );
  expect(listed.get('glob')?.paramsSchema).toMatchObject({required: ['pattern']});
  expect(listed.get('web_fetch')?.paramsSchema).toMatchObject({
    required: ['url'],
    additionalProperties: false,
  });
  expect(listed.get('str_replace')?.paramsSchema).toMatchObject({
    // W18: a list of edits may stand in the place of the two texts.
    required: ['path'],
    properties: {old_string: {type: 'string'}, new_string: {type: 'string'}},
  });
});

test('FR-WF-01 web_fetch has that name alone, and names are matched by case', async () => {
  const server = await servePages({'*': htmlPage('<p>page')});
  const toolbox = open(server.port, {}, {allow: ['web_fetch']});
  const named = toolbox.listTools().filter(({name}) => /fetch/i.test(name));
  expect(named.map(({name}) => name)).toEqual(['web_fetch']);
  for (const tool of ['Web_Fetch', 'WEB_FETCH', 'webfetch', 'webFetch', 'web-fetch', 'fetch', ' web_fetch']) {
    const result = await toolbox.call({tool, params: {url: server.origin}, request_id: tool});
    expect([tool, result.error?.error_type]).toEqual([tool, 'unknown_tool']);
  }
  expect(server.requests).toEqual([]);
});

test('NFR-WF-OP-01 NFR-WF-OP-02 web_fetch has side effects: without an approval it reaches nobody', async () => {
  const server = await servePages({'*': htmlPage('<p>page')});
  const toolbox = open(server.port);
  const call = (tool: string, params: Record<string, string>) =>
    toolbox.call({tool, params, request_id: tool});
  expect(await call('web_fetch', {url: server.origin})).toMatchObject({
    error: {error_type: 'approval_required'},
  });
  expect(server.requests).toEqual([]);
  expect(await call('list_files', {})).toMatchObject({status: 'success'});
});

test('ADR-FETCH-1 the text presentation of web_fetch answers after 15 seconds at the latest', async () => {
  let reached = (): void => {};
  const waiting = new Promise<void>(resolve => {
    reached = resolve;
  });
  const server = await servePages({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    '/silent': () => reached(),
  });
  const clock = createManualClock();
  const toolbox = open(server.port, {output: 'text'}, {allow: ['web_fetch'], clock});
  let ended = false;
  const result = toolbox
    .call({tool: 'web_fetch', params: {url: `${server.origin}/silent`}, request_id: 'r1'})
    .finally(() => {
      ended = true;
    });
  await waiting;
  clock.advance(14_999);
  await new Promise(resolve => setImmediate(resolve));
  expect(ended).toBe(false);
  clock.advance(1);
  expect(await result).toMatchObject({
    status: 'success',
    data: {text: 'web_fetch failed (timeout): No result within 15000 ms.', truncated: false},
  });
});

test('ADR-FETCH-3 the text has at most 8,000 characters, and what is longer is marked', async () => {
  const sizes = [7999, 8000, 8001];
  const server = await servePages(
    Object.fromEntries(sizes.map(size => [`/${size}`, answer('text/plain', 'x'.repeat(size))])),
  );
  const toolbox = open(server.port, {output: 'text', default_max_chunk_tokens: 2048}, {allow: ['web_fetch']});
  for (const size of sizes) {
    const result = await toolbox.call({
      tool: 'web_fetch',
      params: {url: `${server.origin}/${size}`},
      request_id: String(size),
    });
    expect(result.data).toMatchObject({truncated: size > 8000});
    const {text} = result.data as unknown as {readonly text: string};
    if (size <= 8000) expect(text.trimEnd()).toBe('x'.repeat(size));
    else expect(text.length).toBeLessThanOrEqual(8000);
  }
});

describe('toolbox call', () => {
  type ToolsConfig = NonNullable<NonNullable<ToolboxOptions['config']>['tools']>;

  async function serve(): Promise<TestHttpServer> {
    const server = await startHttpServer({
      '/robots.txt': (_, response) => response.writeHead(404).end(),
      '*': (_, response) => response.writeHead(200, {'Content-Type': 'text/html'}).end('<p>page'),
    });
    onTestFinished(() => server.close());
    return server;
  }

  function open(server: TestHttpServer, tools: ToolsConfig, ports: Omit<ToolboxOptions, 'config'> = {}) {
    const runDirectory = join(temporaryDirectory(), 'run');
    const toolbox = createToolbox({
      runDirectory,
      ...ports,
      config: {
        tools: {
          mode: 'enabled',
          ...tools,
          webfetch: {
            enabled: true,
            cache_dir: '',
            ...tools.webfetch,
            security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [server.port]},
          },
        },
      },
    });
    onTestFinished(() => toolbox.close());
    const events = (): readonly Record<string, unknown>[] =>
      readFileSync(join(runDirectory, 'events.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line));
    return {toolbox, events};
  }

  const fetchPage = (toolbox: Toolbox, url: string) =>
    toolbox.call({tool: 'web_fetch', params: {url}, request_id: 'r1'});

  describe('SRD 5.2 precedence', () => {
    test('FR-WF-CFG-PREC-01 mode=disabled offers and runs nothing', async () => {
      const server = await serve();
      const {toolbox} = open(server, {mode: 'disabled'});
      expect(toolbox.listTools()).toEqual([]);
      expect(await fetchPage(toolbox, server.origin)).toMatchObject({
        status: 'error',
        data: null,
        error: {error_type: 'tool_disabled', retryable: false, details: {setting: 'tools.mode'}},
      });
    });

    test('FR-WF-CFG-PREC-02 mode=enabled with webfetch.enabled registers web_fetch', async () => {
      const server = await serve();
      const {toolbox} = open(server, {webfetch: {enabled: true}});
      expect(toolbox.listTools().map(tool => tool.name)).toContain('web_fetch');
      const {toolbox: off} = open(server, {webfetch: {enabled: false}});
      expect(off.listTools().map(tool => tool.name)).not.toContain('web_fetch');
      expect(await fetchPage(off, server.origin)).toMatchObject({
        error: {error_type: 'tool_disabled', details: {setting: 'tools.webfetch.enabled'}},
      });
    });

    test('FR-WF-CFG-PREC-03 parse_only advertises what is defined and executes nothing', async () => {
      const server = await serve();
      const {toolbox} = open(server, {mode: 'parse_only'});
      expect(toolbox.listTools()).toEqual([]);
      const {toolbox: defined} = open(server, {
        mode: 'parse_only',
        definitions: [{name: 'web_fetch', description: '', parameters: {}}],
      });
      expect(defined.listTools()).toMatchObject([{name: 'web_fetch', paramsSchema: {required: ['url']}}]);
      expect(await fetchPage(defined, server.origin)).toMatchObject({error: {error_type: 'tool_disabled'}});
      expect(server.requests).toEqual([]);
    });
  });

  describe('approvals', () => {
    test('ruling H3 nobody to ask: refused before any side effect, with the settings that would allow it', async () => {
      const server = await serve();
      const {toolbox, events} = open(server, {});
      const result = await fetchPage(toolbox, `${server.origin}/?secret=1`);
      expect(result).toMatchObject({error: {error_type: 'approval_required', retryable: false}});
      expect(result.error?.message).toContain('tools.approval.allowlist');
      expect(result.error?.message).toContain('tools.webfetch.allow_auto_execution');
      expect(server.requests).toEqual([]);
      expect(JSON.stringify([result, events()])).not.toContain('secret=1');
    });

    test('FR-WF-OP-02 allow_auto_execution allows, and deny beats it', async () => {
      const server = await serve();
      const {toolbox} = open(server, {webfetch: {allow_auto_execution: true}});
      expect(await fetchPage(toolbox, server.origin)).toMatchObject({status: 'success'});
      const {toolbox: denied} = open(server, {
        approval: {mode: 'deny', allowlist: ['web_fetch']},
        webfetch: {allow_auto_execution: true},
      });
      expect(await fetchPage(denied, server.origin)).toMatchObject({error: {error_type: 'approval_denied'}});
    });

    test('NFR-WF-OP-03 whoever is asked sees scheme, host, path and mode, and no query', async () => {
      const server = await serve();
      const asked: unknown[] = [];
      const {toolbox} = open(
        server,
        {},
        {
          approver: {
            ask: async question => {
              asked.push(question);
              return {answer: 'once'};
            },
          },
        },
      );
      expect(await fetchPage(toolbox, `${server.origin}/path?key=SECRET`)).toMatchObject({status: 'success'});
      expect(asked).toMatchObject([
        {summary: `web_fetch ${server.origin}/path (http mode)`, action: 'web_fetch'},
      ]);
      expect(JSON.stringify(asked)).not.toContain('SECRET');
    });

    test('a dry run needs no approval and changes nothing; denylist and deny rules still hold', async () => {
      const server = await serve();
      const workspace = temporaryDirectory();
      writeFileSync(join(workspace, 'a.txt'), 'one\n');
      const call = async (toolbox: Toolbox) => {
        await toolbox.call({tool: 'read_file', params: {path: 'a.txt'}, request_id: ''});
        const params = {path: 'a.txt', old_string: 'one', new_string: 'two', dry_run: true};
        return toolbox.call({tool: 'str_replace', params, request_id: ''});
      };
      const {toolbox} = open(server, {}, {workspace});
      const answer = await call(toolbox);
      expect(answer).toMatchObject({
        status: 'success',
        data: {dry_run: true, diff: expect.stringContaining('+two')},
      });
      expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\n');
      const {toolbox: denied} = open(server, {approval: {denylist: ['str_replace']}}, {workspace});
      expect(await call(denied)).toMatchObject({error: {error_type: 'approval_denied'}});
    });

    test('explainPolicy says what would be decided and by which setting', async () => {
      const server = await serve();
      const {toolbox} = open(server, {approval: {denylist: ['web_fetch']}});
      const explained = await toolbox.explainPolicy('web_fetch', {url: server.origin});
      expect(explained).toMatchObject({
        ok: true,
        value: {verdict: {decision: 'deny', by: 'tools.approval.denylist'}},
      });
    });
  });

  describe('ruling H6 output = "text"', () => {
    const textTool = async (maxLength?: number) => {
      const server = await serve();
      const {toolbox} = open(server, {webfetch: {output: 'text'}}, {allow: ['web_fetch']});
      const call = (url: string) =>
        toolbox.call({
          tool: 'web_fetch',
          params: {url, ...(maxLength !== undefined && {maxLength})},
          request_id: 'r1',
        });
      return {server, toolbox, call};
    };

    test('ruling H6 the page is text of at most maxLength characters', async () => {
      const {server, toolbox, call} = await textTool(3);
      const result = await call(server.origin);
      expect(result).toMatchObject({status: 'success', data: {text: 'pag', truncated: true}});
      expect(toolbox.renderText(result)).toBe('pag');
      expect(toolbox.listTools()[0]?.paramsSchema).toMatchObject({
        properties: {url: {type: 'string'}, maxLength: {type: 'integer', default: 8000}},
      });
    });

    test('review B3: ruling H6 the text is the document, not its chunks one below the other', async () => {
      const listing = Array.from({length: 300}, (_, at) => `line ${at}`).join('\n');
      const server = await servePages({'/': htmlPage(`<pre>${listing}</pre>`), '/empty': htmlPage('')});
      const {toolbox} = open(
        server,
        {webfetch: {output: 'text', default_max_chunk_tokens: 128}},
        {allow: ['web_fetch']},
      );
      const call = {tool: 'web_fetch', params: {url: server.origin}, request_id: 'r1'};
      expect(await toolbox.call(call)).toMatchObject({
        data: {text: `\`\`\`\n${listing}\n\`\`\``, truncated: false},
      });
      expect(await toolbox.call({...call, params: {url: `${server.origin}/empty`}})).toMatchObject({
        data: {text: expect.stringContaining('/empty was fetched and has no text. A script may make')},
      });
    });

    test('ruling H6 a failure is informational text, and the guard is the same', async () => {
      const {server, call} = await textTool();
      const result = await call(`http://10.0.0.1:${server.port}/`);
      expect(result).toMatchObject({
        status: 'success',
        data: {text: expect.stringContaining('ssrf_blocked')},
      });
      expect(await call('')).toMatchObject({error: {error_type: 'bad_args'}});
    });
  });

  describe('results', () => {
    test('Tool API: every field is there, and its events are written', async () => {
      const server = await serve();
      const {toolbox, events} = open(server, {}, {allow: ['web_fetch']});
      const result = await fetchPage(toolbox, server.origin);
      expect(result).toEqual({
        request_id: 'r1',
        tool: 'web_fetch',
        status: 'success',
        started_at: expect.stringMatching(/Z$/),
        ended_at: expect.stringMatching(/Z$/),
        duration_sec: expect.any(Number),
        data: expect.objectContaining({chunks: [{heading: '', text: 'page', token_count: 1}]}),
        error: null,
        exit_code: null,
        stdout_path: null,
        stderr_path: null,
      });
      expect(toolbox.renderText(result)).toBe(JSON.stringify(result.data));
      expect(events().map(line => line['event'])).toEqual([
        'session_started',
        'tool_call_started',
        'approval_decided',
        'tool_call_finished',
      ]);
    });

    test('ruling H1 FR-ERR-JSON-01 a failure is one failure in two envelopes', async () => {
      const server = await serve();
      const {toolbox} = open(server, {}, {allow: ['web_fetch']});
      const result = await fetchPage(toolbox, `http://10.0.0.1:${server.port}/`);
      expect(result).toMatchObject({
        error: {
          error_type: 'ssrf_blocked',
          retryable: false,
          details: {blocked_ip: '10.0.0.1', cidr: '10.0.0.0/8'},
        },
      });
      expect(JSON.parse(toolbox.renderText(result))).toEqual({
        code: 'ssrf_blocked',
        message: result.error?.message,
        retryable: false,
        details: {blocked_ip: '10.0.0.1', cidr: '10.0.0.0/8', toggle: 'block_private_ips'},
      });
    });

    test('FR-ERR-JSON-02 wrong parameters are bad_args, an unknown tool is structured', async () => {
      const server = await serve();
      const {toolbox} = open(server, {}, {allow: ['web_fetch']});
      expect(await toolbox.call({tool: 'web_fetch', params: {url: ''}, request_id: ''})).toMatchObject({
        error: {error_type: 'bad_args', details: {field: 'url'}},
      });
      expect(await toolbox.call({tool: 'web_fetsh', params: {}, request_id: ''})).toMatchObject({
        error: {error_type: 'unknown_tool', details: {did_you_mean: 'web_fetch'}},
      });
    });

    test('a run directory that cannot be used is an error of the call, not of the host', async () => {
      const server = await serve();
      const workspace = temporaryDirectory();
      const {toolbox} = open(
        server,
        {},
        {workspace, runDirectory: join(workspace, 'run'), allow: ['web_fetch']},
      );
      const result = await fetchPage(toolbox, server.origin);
      expect(result).toMatchObject({status: 'error', request_id: 'r1', data: null});
      expect(result.error?.message).toContain('inside the workspace');
    });
  });
});
