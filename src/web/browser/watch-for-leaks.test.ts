import {PassThrough} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {CdpConnection} from './cdp/cdp-connection.ts';
import {watchForLeaks} from './watch-for-leaks.ts';

/** What is reported of one event. */
async function seen(method: string, response?: object): Promise<readonly string[]> {
  const output = new PassThrough();
  const leaks: string[] = [];
  watchForLeaks(
    new CdpConnection(new PassThrough(), output),
    url => url === 'http://a.test/given',
    what => leaks.push(what),
  );
  output.write(`${JSON.stringify({method, params: {response}})}\0`);
  await new Promise<void>(resolve => setImmediate(resolve));
  return leaks;
}

const RECEIVED = 'Network.responseReceived';

describe('ruling G1 the tripwire', () => {
  test.each([
    ['given from here', {url: 'http://a.test/given', remoteIPAddress: '', connectionId: 0}],
    ['without an address at all', {url: 'http://a.test/given', connectionId: 0}],
    ['made in the page', {url: 'data:text/plain,x', connectionId: 0}],
    ['made by the page', {url: 'blob:http://a.test/1', connectionId: 0}],
  ])('ruling G1 a response %s is let be', async (_, response) => {
    expect(await seen(RECEIVED, response)).toEqual([]);
  });

  test.each([
    ['over a socket', {url: 'http://a.test/given', remoteIPAddress: '10.0.0.1', connectionId: 0}],
    ['over a connection', {url: 'http://a.test/given', remoteIPAddress: '', connectionId: 12}],
    ['that nobody gave', {url: 'https://b.test/x?secret', remoteIPAddress: '', connectionId: 0}],
  ])('ruling G1 a response %s trips it, and no query is named', async (_, response) => {
    const leaks = await seen(RECEIVED, response);
    expect(leaks).toHaveLength(1);
    expect(leaks.join()).not.toContain('secret');
  });

  test.each([
    'Network.webSocketWillSendHandshakeRequest',
    'Network.webSocketHandshakeResponseReceived',
    'Network.webSocketFrameReceived',
    'Network.webTransportConnectionEstablished',
  ])('ruling G1 %s trips it', async method => {
    expect(await seen(method)).toEqual([method]);
  });
});
