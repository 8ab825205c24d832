import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Ajv2020} from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import {describe, expect, test} from 'vitest';
import {listEveryTool} from '../scripts/list-every-tool.js';
import {renderSchemas} from '../scripts/render-schemas.js';
import {renderToolMethods} from '../scripts/render-tool-methods.js';
import {parseRequest} from '../src/cli/jsonl.ts';
import {FAILURE_CODES} from '../src/core/failure-codes.ts';
import {createToolbox} from '../src/index.ts';
import {toolResultSchema} from '../src/mcp/describe-tool.ts';
import {RUNTIME_EVENTS} from '../src/runtime/run-event.ts';
import {cliConfig} from './support/cli-config.ts';
import {runCliHere} from './support/run-cli-here.ts';
import {temporaryDirectory} from './support/temporary-directory.ts';

/** What the build writes into schemas/. */
const SCHEMAS = renderSchemas(await listEveryTool(createToolbox), {
  failureCodes: FAILURE_CODES,
  runtimeEvents: RUNTIME_EVENTS,
  toolResultSchema,
});

function validator(name: string): (value: unknown) => boolean {
  const ajv = new Ajv2020({strict: true, strictTypes: false, strictRequired: false});
  formats.default(ajv);
  const validate = ajv.compile(JSON.parse(SCHEMAS.get(name) ?? ''));
  return value => validate(value);
}

describe('schemas/', () => {
  test('policy: the typed methods of the library are those of the tools', async () => {
    const file = 'src/tools/tool-methods.data.ts';
    const written = await readFile(new URL(`../${file}`, import.meta.url), 'utf8');
    expect(written, `${file} is out of date: run \`npm run docs\` and commit the result`).toBe(
      renderToolMethods(await listEveryTool(createToolbox)),
    );
  });

  test('policy: every one is JSON Schema 2020-12', () => {
    expect(SCHEMAS.size).toBeGreaterThan(5);
    for (const name of SCHEMAS.keys()) expect(validator(name)).toBeTypeOf('function');
  });

  test('policy: tool-request.json accepts what call --jsonl accepts', () => {
    const isRequest = validator('tool-request.json');
    const values = [
      {tool: 'a', params: {}, request_id: 'r'},
      {tool: 'a'},
      {tool: 'a', extra: 1},
      {tool: ''},
      {tool: 1},
      {params: {}},
      {tool: 'a', params: []},
      {tool: 'a', params: null},
      {tool: 'a', request_id: 7},
      [],
      null,
      'a',
    ];
    for (const value of values) {
      expect(isRequest(value), JSON.stringify(value)).toBe(
        parseRequest(Buffer.from(JSON.stringify(value))).ok,
      );
    }
  });

  test('policy: the results and events of a real session are of these schemas', async () => {
    const {cwd, env, flags} = cliConfig();
    const run = join(temporaryDirectory(), 'run');
    const requests = [
      {request_id: 'a', tool: 'web_fetch', params: {url: 'http://page.invalid/'}},
      {request_id: 'd', tool: 'web_fetch', params: {url: 'http://10.0.0.1/'}},
      {request_id: 'b', tool: 'web_fetch', params: {}},
      {request_id: 'c', tool: 'nothing', params: {deep: [{x: null}]}},
      'no request',
    ];
    const input = requests.map(request => `${JSON.stringify(request)}\n`).join('');
    const argv = ['call', '--jsonl', '--run-dir', run, ...flags, '--log-level', 'silent'];
    const asked = await runCliHere(argv, {cwd, env, input});
    const allowed = await runCliHere([...argv, '--allow', 'web_fetch'], {cwd, env, input});

    const isResult = validator('tool-result.json');
    const isError = validator('tool-error.json');
    const isEvent = validator('run-event.json');
    const results = (asked.stdout + allowed.stdout).trim().split('\n');
    expect(results).toHaveLength(10);
    for (const line of results) {
      expect(isResult(JSON.parse(line)), line).toBe(true);
      expect(isError(JSON.parse(line).error), line).toBe(true);
    }
    const events = (await readFile(join(run, 'events.jsonl'), 'utf8')).trim().split('\n');
    for (const line of events) expect(isEvent(JSON.parse(line)), line).toBe(true);
    const kinds = new Set(events.map(line => JSON.parse(line).event));
    expect([...kinds].sort()).toEqual([
      'approval_decided',
      'approval_requested',
      'guard_blocked',
      'session_ended',
      'session_resumed',
      'session_started',
      'tool_call_finished',
      'tool_call_started',
    ]);
  });

  test('policy: what is no result and no event is refused', () => {
    const isResult = validator('tool-result.json');
    const isEvent = validator('run-event.json');
    expect(isResult({request_id: 'a', tool: 'b', status: 'success'})).toBe(false);
    const event = {seq: 1, time: '2026-01-10T00:00:00.000Z', hash: 'a'.repeat(64)};
    expect(isEvent({...event, event: 'session_started', payload: {version: 1}})).toBe(true);
    expect(isEvent({...event, event: 'session_started', payload: {}})).toBe(false);
    expect(isEvent({...event, event: 'SOMETHING_OF_A_TOOL', payload: {any: 1}})).toBe(true);
    expect(isEvent({...event, seq: 0, event: 'X', payload: {}})).toBe(false);
  });
});
