import {describe, expect, test} from 'vitest';
import {resolveSection} from '../../config/resolve/resolve-section.ts';
import {systemClock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import {type WebFetchOptions, webFetchSection} from '../../web/options.ts';
import {summarizeFetch} from './summarize-fetch.ts';
import {parseWebFetchArgs, webFetchTool} from './web-fetch.ts';
import {webFetchTextTool} from './web-fetch-text.ts';

function optionsOf(raw: object = {}): WebFetchOptions {
  return resolveSection(
    webFetchSection,
    raw,
    {env: {}, cwd: '/', tempDir: '/tmp'},
    {warnings: [], problems: []},
  );
}

const nothing = async () => fail('network', 'Nothing is fetched here.');

describe('ruling H2, NFR-WF-OP-01', () => {
  test('H2: web_fetch is side-effecting and destroys nothing, in both outputs', () => {
    for (const tool of [
      webFetchTool(nothing, optionsOf()),
      webFetchTextTool(nothing, optionsOf(), systemClock),
    ]) {
      expect(tool.annotations).toEqual({
        readOnly: false,
        destructive: false,
        idempotent: true,
        openWorld: true,
      });
    }
  });
});

describe('FR-WF-02: the schema that is advertised', () => {
  test('says the default that is configured, and that an address is not empty', () => {
    const schema = webFetchTool(nothing, optionsOf({default_max_chunk_tokens: 900})).paramsSchema;
    expect(schema['properties']).toMatchObject({
      url: {type: 'string', minLength: 1},
      max_chunk_tokens: {type: 'integer', default: 900, minimum: 128, maximum: 2048},
    });
    expect(schema['required']).toEqual(['url']);
    expect(webFetchTool(nothing, optionsOf()).paramsSchema['properties']).toMatchObject({
      max_chunk_tokens: {default: 600},
    });
    expect(webFetchTextTool(nothing, optionsOf(), systemClock).paramsSchema['properties']).toMatchObject({
      url: {minLength: 1},
    });
  });

  test('an empty address is refused with one reason', () => {
    for (const url of ['', ' \t']) {
      expect(parseWebFetchArgs({url}, 600)).toMatchObject({
        ok: false,
        error: {code: 'bad_args', details: {field: 'url', reason: 'must not be empty or blank'}},
      });
    }
    expect(parseWebFetchArgs({url: 'x'}, 700)).toMatchObject({value: {max_chunk_tokens: 700}});
  });
});

test('NFR-WF-OP-03: the question says the mode that the fetch begins in', () => {
  const options = optionsOf({rendering: {js_heavy_domains: ['app.example', '.spa.example']}});
  expect(summarizeFetch('web_fetch', 'https://app.example/a?b', false, options)).toBe(
    'web_fetch https://app.example/a (browser mode)',
  );
  expect(summarizeFetch('web_fetch', 'https://x.spa.example/', false, options)).toContain('(browser mode)');
  expect(summarizeFetch('web_fetch', 'https://spa.example/', false, options)).toContain('(http mode)');
  expect(summarizeFetch('web_fetch', 'https://spa.example/', true, options)).toContain('(browser mode)');
  expect(summarizeFetch('web_fetch', 'http://a b/?SECRET', false, options)).toBe(
    'web_fetch http://a b/ (http mode)',
  );
});
