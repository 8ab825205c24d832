import {expect, test} from 'vitest';
import {fetchesNothing, webFetchOptions} from '../../../test/support/every-tool.ts';
import {systemClock} from '../../core/clock.ts';
import {webFetchTool} from './web-fetch.ts';
import {webFetchTextTool} from './web-fetch-text.ts';

const url = 'https://example.com/';

test.each<readonly [object, string, string]>([
  [{url}, 'ok', 'ok'],
  [{}, 'url: is required', 'url: is required'],
  [{url: ' \t'}, 'url: must not be empty or blank', 'url: must not be empty or blank'],
  [{url: ''}, 'url: must not be empty or blank', 'url: must not be empty or blank'],
  [{url, maxLength: 0}, 'maxLength: is no parameter', 'maxLength: must be at least 1, got 0'],
  [{url, maxLength: 1}, 'maxLength: is no parameter', 'ok'],
  [{url, maxLength: '1'}, 'maxLength: is no parameter', 'maxLength: must be a whole number, got "1"'],
  [
    {url, max_chunk_tokens: 127},
    'max_chunk_tokens: must be at least 128, got 127',
    'max_chunk_tokens: is no parameter',
  ],
  [{url, max_chunk_tokens: 128}, 'ok', 'max_chunk_tokens: is no parameter'],
  [{url, max_chunk_tokens: 2048}, 'ok', 'max_chunk_tokens: is no parameter'],
  [
    {url, max_chunk_tokens: 2049},
    'max_chunk_tokens: must be at most 2048, got 2049',
    'max_chunk_tokens: is no parameter',
  ],
  [{url, no_cache: null}, 'no_cache: must be true or false, got null', 'no_cache: is no parameter'],
])('FR-WF-02 ruling H6: of the arguments %j each form of web_fetch says', (input, ours, text) => {
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
