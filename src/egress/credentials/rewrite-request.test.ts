import {describe, expect, test} from 'vitest';
import type {EgressCredential} from './credentialed-hosts.ts';
import {type ReadRequest, rewriteRequest} from './rewrite-request.ts';

const TARGET = {scheme: 'https', host: 'a.test', port: 443} as const;
const CREDENTIAL: EgressCredential = {
  host: 'a.test',
  port: 443,
  header: 'X-Api-Key',
  value: () => 'secret',
  by: 'tools.run.egress.credentials[0]',
};
const HOST = ['Host', 'a.test'];

function rewrite(request: Partial<ReadRequest>, target: Parameters<typeof rewriteRequest>[1] = TARGET) {
  return rewriteRequest({method: 'GET', url: '/', rawHeaders: HOST, ...request}, target, CREDENTIAL);
}

describe('a request that gets the secret', () => {
  test('X1 is written anew: its own field of that name and what is about the connection are left out', () => {
    const rawHeaders = [
      ...HOST,
      ...['Accept', 'a/b', 'x-api-KEY', 'mine', 'Connection', 'x-api-key', 'Expect', '100-continue'],
      ...['TE', 'trailers', 'Keep-Alive', 'timeout=5', 'Proxy-Authorization', 'Basic x', 'Accept', 'c/d'],
    ];
    expect(rewrite({url: '/a?b="c"', rawHeaders})).toEqual({
      ok: true,
      value: {
        method: 'GET',
        path: '/a?b="c"',
        headers: ['Host', 'a.test', 'accept', 'a/b', 'accept', 'c/d', 'X-Api-Key', 'secret'],
      },
    });
  });

  test('X1 says how long it is, also where it did not', () => {
    const headersOf = (method: string, ...fields: readonly string[]) => {
      const rewritten = rewrite({method, rawHeaders: [...HOST, ...fields]});
      return rewritten.ok ? rewritten.value.headers.slice(2, -2) : rewritten.error;
    };
    for (const method of ['POST', 'PUT', 'PATCH']) expect(headersOf(method)).toEqual(['content-length', '0']);
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) expect(headersOf(method)).toEqual([]);
    expect(headersOf('POST', 'Content-Length', '3')).toEqual(['content-length', '3']);
    expect(headersOf('POST', 'Transfer-Encoding', 'Chunked')).toEqual(['transfer-encoding', 'Chunked']);
  });

  test('X1 names its host with or without the usual port, and with any other', () => {
    expect(rewrite({rawHeaders: ['Host', 'A.test:443']}).ok).toBe(true);
    const other = {...TARGET, port: 8443};
    expect(rewrite({rawHeaders: ['Host', 'a.test:8443']}, other)).toMatchObject({
      value: {headers: ['Host', 'a.test:8443', 'X-Api-Key', 'secret']},
    });
    expect(rewrite({}, other)).toMatchObject({error: {status: 403}});
  });
});

describe('a request that is not sent', () => {
  test.each<[string, Partial<ReadRequest>, number]>([
    ['is answered with itself', {method: 'TRACE'}, 405],
    ['has a method of nobody', {method: 'get'}, 405],
    ['asks for an address', {url: 'https://evil.test/'}, 400],
    ['asks for no path', {url: '*'}, 400],
    ['has a blank in its path', {url: '/a b'}, 400],
    ['has a fragment', {url: '/a#b'}, 400],
    ['has no Host', {rawHeaders: []}, 403],
    ['has the Host of another', {rawHeaders: ['Host', 'evil.test']}, 403],
    ['has two Hosts', {rawHeaders: [...HOST, ...HOST]}, 403],
    ['wants another protocol', {rawHeaders: [...HOST, 'Upgrade', 'h2c']}, 501],
    ['has fields behind its body', {rawHeaders: [...HOST, 'Trailer', 'x']}, 501],
    ['has two lengths', {rawHeaders: [...HOST, 'Content-Length', '1', 'Content-Length', '1']}, 400],
    [
      'has a length and chunks',
      {rawHeaders: [...HOST, 'Content-Length', '1', 'Transfer-Encoding', 'chunked']},
      400,
    ],
    ['has another coding', {rawHeaders: [...HOST, 'Transfer-Encoding', 'gzip, chunked']}, 400],
    ['has 101 fields', {rawHeaders: [...HOST, ...Array(100).fill(['a', 'b']).flat()]}, 400],
    ['has a control character', {rawHeaders: [...HOST, 'a', 'b\u0001']}, 400],
  ])('X1 %s', (_, request, status) => {
    expect(rewrite(request)).toEqual({ok: false, error: {status, reason: expect.stringMatching(/\.$/)}});
  });

  test('X1 100 fields are not too many', () => {
    expect(rewrite({rawHeaders: [...HOST, ...Array(99).fill(['a', 'b']).flat()]}).ok).toBe(true);
  });
});
