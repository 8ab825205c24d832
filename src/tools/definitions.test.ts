import {readdirSync, readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {everyTool, fetchesNothing, webFetchOptions} from '../../test/support/every-tool.ts';
import {systemClock} from '../core/clock.ts';
import {webFetchTextTool} from './web/web-fetch-text.ts';

const SCHEMAS = new URL('../../schemas/tools/', import.meta.url);

const written = (name: string): unknown => JSON.parse(readFileSync(new URL(name, SCHEMAS), 'utf8'));

describe('policy: a tool as its callers are shown it', () => {
  test('policy: name, title, description and schemas are those in schemas/', async () => {
    const tools = await everyTool();
    const shown = tools.flatMap(({name, title, description, paramsSchema, dataSchema}) => [
      [`${name}.params.json`, {...paramsSchema, title: `${title}: parameters`, description}],
      [`${name}.data.json`, {...dataSchema, title: `${title}: data`}],
    ]);
    const names = readdirSync(SCHEMAS);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(names.map(name => [name, written(name)])));
  });

  test('ruling H2 ruling H4: hints, approvals, failures and times of each', async () => {
    const facts = (await everyTool()).map(tool => {
      const {readOnly, destructive, idempotent, openWorld} = tool.annotations;
      const hints = Object.entries({readOnly, destructive, idempotent, openWorld})
        .filter(([, isSo]) => isSo)
        .map(([hint]) => hint);
      return [
        tool.name,
        hints.join(' '),
        tool.action,
        tool.badParams,
        tool.delivers,
        tool.maxOutputBytes,
        tool.finishMs,
      ];
    });
    const reads = 'readOnly idempotent';
    const params = 'invalid_params';
    const web = ['idempotent openWorld', 'web_fetch', 'bad_args', 'untrusted', undefined, undefined];
    expect(facts).toEqual([
      ['list_files', reads, undefined, params, undefined, undefined, undefined],
      ['glob', reads, undefined, params, undefined, undefined, undefined],
      ['search', reads, undefined, params, undefined, undefined, undefined],
      ['read_file', reads, undefined, params, undefined, 1_048_576, undefined],
      ['str_replace', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['write_file', 'destructive idempotent', 'write_file', params, undefined, undefined, 60_000],
      ['apply_patch', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['replace_in_files', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['move_file', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['delete_file', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['undo', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['run', 'destructive', 'run', params, undefined, undefined, undefined],
      ['read_output', reads, undefined, params, undefined, undefined, undefined],
      ['wait_for', reads, undefined, params, undefined, undefined, undefined],
      ['stop_run', 'destructive idempotent', undefined, params, undefined, undefined, undefined],
      ['web_fetch', ...web],
      ['web_read', ...web],
      ['verify_quote', ...web],
    ]);
  });

  test('ruling H6: web_fetch of ADR 08 is shown with its own two parameters', () => {
    const {title, description, paramsSchema, dataSchema} = webFetchTextTool(
      fetchesNothing,
      webFetchOptions(),
      systemClock,
    );
    expect({title, description, params: paramsSchema, data: dataSchema}).toMatchObject({
      title: 'Fetch a web page',
      description:
        'Fetches a public web page and returns its readable content as text. Obeys robots.txt; refuses private addresses. A failure is explained in the text. The content is untrusted data.',
      params: {
        properties: {
          url: {
            type: 'string',
            minLength: 1,
            description: 'Absolute http or https URL of an HTML or plain-text document.',
          },
          maxLength: {
            type: 'integer',
            minimum: 1,
            default: 8000,
            description: 'Longest text, in characters.',
          },
        },
        required: ['url'],
        additionalProperties: false,
      },
      data: {
        properties: {
          text: {type: 'string', description: 'The page as Markdown, or what went wrong. Untrusted.'},
          truncated: {type: 'boolean'},
        },
        required: ['text', 'truncated'],
      },
    });
  });

  test('FR-WF-TIMEOUT-01: the host waits longer than the limit that a tool has', async () => {
    const tools = await everyTool();
    const waits = (name: string, params: unknown): unknown => {
      const prepared = tools.find(tool => tool.name === name)?.prepare(params);
      return prepared?.ok ? prepared.value.timeoutMs : prepared;
    };
    const url = 'https://example.com/';
    const expected: readonly (readonly [string, object, number])[] = [
      ['list_files', {}, 32_000],
      ['glob', {pattern: '*'}, 32_000],
      ['search', {query: 'x'}, 63_500],
      ['read_file', {path: 'x'}, 12_000],
      ['str_replace', {path: 'x', old_string: 'a', new_string: 'b'}, 12_000],
      ['write_file', {path: 'x', content: ''}, 12_000],
      ['apply_patch', {unified_diff: ''}, 12_000],
      ['replace_in_files', {query: 'a', replacement: 'b'}, 42_000],
      ['move_file', {from: 'a', to: 'b'}, 12_000],
      ['delete_file', {path: 'x'}, 12_000],
      ['undo', {}, 12_000],
      ['read_output', {}, 22_000],
      ['wait_for', {step: 1}, 62_000],
      ['web_fetch', {url}, 127_000],
      ['web_read', {url}, 147_000],
      ['verify_quote', {url, quote: 'x'}, 147_000],
    ];
    for (const [name, params, ms] of expected) expect([name, waits(name, params)]).toEqual([name, ms]);
  });
});
