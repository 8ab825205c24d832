import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {fetchesNothing, webFetchOptions} from '../../../test/support/every-tool.ts';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {openTestRuntime} from '../../../test/support/open-test-runtime.ts';
import {resolveConfig, resolveSection} from '../../config/resolve-config.ts';
import {systemClock} from '../../core/clock.ts';
import {fail} from '../../core/result.ts';
import {type WebFetchOptions, webFetchSection} from '../../web/options.ts';
import {previewAddress, summarizeFetch} from './address.ts';
import {cutDocument} from './show-read.ts';
import {type FetchPage, parseWebFetchArgs, webFetchTextTool, webFetchTool} from './web-fetch.ts';

test.each([
  ['https://docs.example.com/a/b', 'scheme: https\nhost:   docs.example.com\npath:   /a/b'],
  [
    ' HTTP://Ex\u00e4mple.com:8080/?token=secret#part ',
    'scheme: http\nhost:   xn--exmple-cua.com:8080\npath:   /\nquery:  12 characters, not shown here',
  ],
  ['https://user:pass@example.com/', 'scheme: https\nhost:   example.com\npath:   /'],
  ['not a url?token=secret', 'not a url'],
  ['data:text/plain,secret', 'data:…'],
])('FR-WF-19b %s is asked about as %j', (url, preview) => {
  expect(previewAddress(url, {credentials: []})).toBe(preview);
});

const wide = {maxBytes: 1_000_000};

describe('review B3: a document that is cut', () => {
  test('what fits is the document itself', () => {
    const document = '```\na\n\n\nb\n```';
    expect(cutDocument({document, maxLength: document.length, ...wide})).toEqual({
      text: document,
      truncated: false,
    });
  });

  test('is cut between blocks, and says how much is missing and how to get it', () => {
    const block = `${'word '.repeat(19)}word.`;
    const document = Array(20).fill(block).join('\n\n');
    const {text, truncated} = cutDocument({document, maxLength: 1000, ...wide});
    expect(truncated).toBe(true);
    expect(text.length).toBeLessThanOrEqual(1000);
    const shown = 8 * block.length + 7 * 2;
    expect(text).toBe(
      `${document.slice(0, shown)}\n\n[Cut here: ${shown} of ${document.length} characters are above. Call again with a larger maxLength for more.]`,
    );
  });

  test('is cut between lines where a block is larger than the room, and between words where a line is', () => {
    const fence = `\`\`\`\n${'a line of code\n'.repeat(100)}\`\`\``;
    expect(cutDocument({document: fence, maxLength: 600, ...wide}).text).toMatch(
      /\na line of code\n\n\[Cut here: /,
    );
    const line = 'word '.repeat(300);
    expect(cutDocument({document: line, maxLength: 600, ...wide}).text).toMatch(/ word\n\n\[Cut here: /);
  });

  test('keeps the bytes of an answer too, and names their setting', () => {
    const document = '\u{1f600}\n'.repeat(500);
    const {text} = cutDocument({document, maxLength: 8000, maxBytes: 1000});
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(1000);
    expect(text).toContain('An answer has at most 1000 bytes here (tools.output.max_bytes,');
  });

  test('a room too small for a mark has none', () => {
    expect(cutDocument({document: 'a\u{1f600}b', maxLength: 2, ...wide})).toEqual({
      text: 'a',
      truncated: true,
    });
  });

  test.each(['\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', 'e\u0301'])(
    'review B8: %s is not cut in two, with a mark and without',
    character => {
      const {length} = character;
      const document = character.repeat(1000);
      for (let maxLength = 1; maxLength < 4 * length; maxLength += 1) {
        const {text} = cutDocument({document, maxLength, ...wide});
        expect(text).toBe(character.repeat(Math.floor(maxLength / length)));
      }
      for (let maxLength = 700; maxLength < 700 + 2 * length; maxLength += 1) {
        const {text} = cutDocument({document, maxLength, ...wide});
        const [kept = ''] = text.split('\n\n[Cut here');
        expect(kept.length).toBeGreaterThan(200);
        expect(kept.length % length).toBe(0);
      }
    },
  );

  test('property: both limits hold, and what is shown is the beginning of the document', () => {
    const part = fc.constantFrom('\n', '\n\n', ' ', 'word', '"', '\u{1f600}', 'ä');
    fc.assert(
      fc.property(
        fc.array(part, {maxLength: 2000}).map(parts => parts.join('')),
        fc.integer({min: 1, max: 3000}),
        fc.integer({min: 2, max: 3000}),
        (document, maxLength, maxBytes) => {
          const {text, truncated} = cutDocument({document, maxLength, maxBytes});
          expect(text.length).toBeLessThanOrEqual(maxLength);
          expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(maxBytes);
          expect(text).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
          if (truncated)
            expect(document.startsWith(text.replace(/\n\n\[Cut here: [^\]]*\]$/, ''))).toBe(true);
          else expect(text).toBe(document);
        },
      ),
      {numRuns: 300},
    );
  });
});

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

const SURROUNDINGS = {env: {}, homeDir: '/home/u', tempDir: '/tmp', cwd: '/'};

test('ADR 08: the whole call ends after 15 s, and not a millisecond before', async () => {
  const config = resolveConfig(undefined, SURROUNDINGS);
  if (!config.ok) throw new Error(config.error.join('\n'));
  const textAfter = async (ms: number) => {
    const clock = createManualClock();
    // A server that takes so long, and then has nothing.
    const fetchPage: FetchPage = async (_, {signal}) => {
      clock.advance(ms);
      return signal?.aborted ? fail('cancelled', 'Cancelled.') : fail('http_4xx', 'Nothing there.');
    };
    const tool = webFetchTextTool(fetchPage, config.value.config.tools.webfetch, clock);
    const {call} = await openTestRuntime({tools: [tool], approval: {mode: 'auto'}});
    const {data} = await call('web_fetch', {url: 'https://example.com/'});
    return data;
  };
  expect(await textAfter(14_999)).toEqual({
    text: 'web_fetch failed (http_4xx): Nothing there.',
    truncated: false,
  });
  expect(await textAfter(15_000)).toEqual({
    text: 'web_fetch failed (timeout): No result within 15000 ms.',
    truncated: false,
  });
});

const url = 'https://example.com/';

test.each<readonly [object, string, string]>(
  // biome-ignore format: a case is a line
  [
    [{url}, 'ok', 'ok'],
    [{}, 'url: is required', 'url: is required'],
    [{url: ' \t'}, 'url: must not be empty or blank', 'url: must not be empty or blank'],
    [{url: ''}, 'url: must not be empty or blank', 'url: must not be empty or blank'],
    [{url, maxLength: 0}, 'maxLength: is no parameter', 'maxLength: must be at least 1, got 0'],
    [{url, maxLength: 1}, 'maxLength: is no parameter', 'ok'],
    [{url, maxLength: '1'}, 'maxLength: is no parameter', 'maxLength: must be a whole number, got "1"'],
    [{url, max_chunk_tokens: 127}, 'max_chunk_tokens: must be at least 128, got 127', 'max_chunk_tokens: is no parameter'],
    [{url, max_chunk_tokens: 128}, 'ok', 'max_chunk_tokens: is no parameter'],
    [{url, max_chunk_tokens: 2048}, 'ok', 'max_chunk_tokens: is no parameter'],
    [{url, max_chunk_tokens: 2049}, 'max_chunk_tokens: must be at most 2048, got 2049', 'max_chunk_tokens: is no parameter'],
    [{url, no_cache: null}, 'no_cache: must be true or false, got null', 'no_cache: is no parameter'],
  ],
)('FR-WF-02 ruling H6: of the arguments %j each form of web_fetch says', (input, ours, text) => {
  const tools = [
    webFetchTool(fetchesNothing, webFetchOptions()),
    webFetchTextTool(fetchesNothing, webFetchOptions(), systemClock),
  ];
  const said = tools.map(tool => {
    const prepared = tool.prepare(input);
    return prepared.ok ? 'ok' : prepared.error.all;
  });
  expect(said).toEqual([ours, text]);
});
