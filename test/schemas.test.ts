import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Ajv2020} from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import {describe, expect, test} from 'vitest';
import {listEveryTool} from '../scripts/list-every-tool.js';
import {renderSchemas} from '../scripts/render-schemas.js';
import {parseRequest} from '../src/cli/jsonl/parse-request.ts';
import {FAILURE_CODES} from '../src/core/failure/failure-codes.ts';
import {createToolbox} from '../src/index.ts';
import {toolResultSchema} from '../src/mcp/tool-result-schema.ts';
import {RUNTIME_EVENTS} from '../src/runtime/events/run-event.ts';
import {cliConfig} from './support/cli-config.ts';
import {runCliHere} from './support/run-cli-here.ts';
import {temporaryDirectory} from './support/temporary-directory.ts';

const ROOT = new URL('../schemas/', import.meta.url);
const STALE = 'is out of date: run `npm run docs` and commit the result';

async function validator(name: string): Promise<(value: unknown) => boolean> {
  const ajv = new Ajv2020({strict: true, strictTypes: false, strictRequired: false});
  formats.default(ajv);
  const validate = ajv.compile(JSON.parse(await readFile(new URL(name, ROOT), 'utf8')));
  return value => validate(value);
}

describe('schemas/', () => {
  test('policy: are what the tables and definitions in the code say', async () => {
    const expected = renderSchemas(await listEveryTool(createToolbox), {
      failureCodes: FAILURE_CODES,
      runtimeEvents: RUNTIME_EVENTS,
      toolResultSchema,
    });
    const names = (await readdir(ROOT, {recursive: true})).filter(name => name.endsWith('.json'));
    expect(names.sort(), `schemas/ ${STALE}`).toEqual([...expected.keys()].sort());
    for (const [name, content] of expected) {
      expect(await readFile(new URL(name, ROOT), 'utf8'), `schemas/${name} ${STALE}`).toBe(content);
    }
  });

  test('policy: every one is JSON Schema 2020-12', async () => {
    const names = (await readdir(ROOT, {recursive: true})).filter(name => name.endsWith('.json'));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(await validator(name)).toBeTypeOf('function');
  });

  test('policy: tool-request.json accepts what call --jsonl accepts', async () => {
    const isRequest = await validator('tool-request.json');
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
      {request_id: 'a', tool: 'web_fetch', params: {url: 'http://10.0.0.1/'}},
      {request_id: 'b', tool: 'web_fetch', params: {}},
      {request_id: 'c', tool: 'nothing', params: {deep: [{x: null}]}},
      'no request',
    ];
    const input = requests.map(request => `${JSON.stringify(request)}\n`).join('');
    const argv = ['call', '--jsonl', '--run-dir', run, ...flags, '--log-level', 'silent'];
    const asked = await runCliHere(argv, {cwd, env, input});
    const allowed = await runCliHere([...argv, '--allow', 'web_fetch'], {cwd, env, input});

    const [isResult, isError, isEvent] = await Promise.all([
      validator('tool-result.json'),
      validator('tool-error.json'),
      validator('run-event.json'),
    ]);
    const results = (asked.stdout + allowed.stdout).trim().split('\n');
    expect(results).toHaveLength(8);
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

  test('policy: what is no result and no event is refused', async () => {
    const [isResult, isEvent] = await Promise.all([
      validator('tool-result.json'),
      validator('run-event.json'),
    ]);
    expect(isResult({request_id: 'a', tool: 'b', status: 'success'})).toBe(false);
    const event = {seq: 1, time: '2026-01-10T00:00:00.000Z', hash: 'a'.repeat(64)};
    expect(isEvent({...event, event: 'session_started', payload: {version: 1}})).toBe(true);
    expect(isEvent({...event, event: 'session_started', payload: {}})).toBe(false);
    expect(isEvent({...event, event: 'SOMETHING_OF_A_TOOL', payload: {any: 1}})).toBe(true);
    expect(isEvent({...event, seq: 0, event: 'X', payload: {}})).toBe(false);
  });
});
