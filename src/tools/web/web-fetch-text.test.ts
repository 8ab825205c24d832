import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {openTestRuntime} from '../../../test/support/open-test-runtime.ts';
import {resolveConfig} from '../../config/resolve/resolve-config.ts';
import {fail} from '../../core/failure/fail.ts';
import type {FetchPage} from './web-fetch.ts';
import {webFetchTextTool} from './web-fetch-text.ts';

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
