import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {openTestRuntime} from '../../../test/support/open-test-runtime.ts';
import {resolveSection} from '../../config/resolve/resolve-section.ts';
import {fail} from '../../core/failure/fail.ts';
import {webFetchTool} from '../../tools/web/web-fetch.ts';
import {webFetchSection} from '../../web/options.ts';
import {redactAddress} from './redact-address.ts';

const ADDRESSES = [
  'http://a b/?TOPSECRET',
  'http://a b/#TOPSECRET',
  'https://[::1/?q=TOPSECRET',
  'http://a.example:99999/?TOPSECRET',
  'data:text/html,TOPSECRET',
  'data:text/html,<p>TOPSECRET',
  'data: text/html, TOPSECRET',
  'javascript:fetch("TOPSECRET")',
  'javascript: alert(1); TOPSECRET',
  'blob:TOPSECRET',
  'mailto:a@b?subject=TOPSECRET',
  'user:TOPSECRET@host/',
  '//host/?TOPSECRET',
  'not an address?TOPSECRET',
  ' \thttp:\\\\a b\\?TOPSECRET',
  'https://good.example/path?TOPSECRET',
];

test.each(ADDRESSES)(
  'FR-WF-19b: of %j neither the log nor the record keeps what is no address',
  async url => {
    const options = resolveSection(
      webFetchSection,
      {},
      {env: {}, cwd: '/', tempDir: '/tmp'},
      {warnings: [], problems: []},
    );
    const {call, directory} = await openTestRuntime({
      tools: [webFetchTool(async ({url: given}) => fail('invalid_url', 'No.', {url: given}), options)],
      approval: {mode: 'auto'},
    });
    await call('web_fetch', {url});
    await call('web_fetch', {url, no_cache: 'a'});
    for (const file of ['events.jsonl', 'calls/step_0001.json', 'calls/step_0002.json']) {
      expect(await readFile(join(directory, file), 'utf8')).not.toContain('TOPSECRET');
    }
  },
);

test('what says where something is stays', () => {
  expect(redactAddress('https://docs.example/a/b?c#d')).toBe('https://docs.example/a/b?…');
  expect(redactAddress('http://a b/path?x')).toBe('http://a b/path?…');
  expect(redactAddress('localhost:8080/x?y')).toBe('localhost:8080/x?…');
  expect(redactAddress('data:text/html,x')).toBe('data:…');
});
