import {expect, test} from 'vitest';
import {readIdentity} from './epoch.ts';

test.each([
  ['Redis', '# Server\r\nredis_version:7.0.15\r\nrun_id:12ab\r\n', {version: '7.0.15', runId: '12ab'}],
  [
    'Valkey, which says first whose clients it serves',
    'redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\nrun_id:12ab\r\n',
    {version: '8.0.1', runId: '12ab'},
  ],
  ['a version that is none', 'redis_version:<b>\r\nrun_id:12 ab\r\n', {version: 'unknown', runId: 'unknown'}],
  ['no text', 7, {version: 'unknown', runId: 'unknown'}],
])('S1 who answers is read from INFO: %s', (_, info, identity) => {
  expect(readIdentity(info)).toEqual(identity);
});
