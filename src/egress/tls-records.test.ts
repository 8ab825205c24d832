import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {clientHello, extension, record, serverNames} from '../../test/support/egress/client-hello.js';
import {readClientHello} from './client-hello.ts';
import {TlsRecords} from './tls-records.ts';

const HOST = 'registry.test';
const GOOD = clientHello(extension(43, Buffer.from([2, 3, 4])), serverNames(HOST));

function stateOf(...chunks: readonly Buffer[]) {
  const records = new TlsRecords(HOST);
  return chunks.map(chunk => records.take(chunk)).at(-1);
}

describe('RFC 8446 §4.1.2 a ClientHello', () => {
  test('X1 names its one host, in any case', () => {
    expect(readClientHello(GOOD)).toEqual({kind: 'named', name: HOST});
    expect(readClientHello(clientHello(serverNames('Registry.TEST')))).toEqual({kind: 'named', name: HOST});
  });

  test.each([
    ['no name', clientHello(), 'names no host'],
    ['two names', clientHello(serverNames(HOST, 'evil.test')), 'exactly one host'],
    ['an empty name', clientHello(serverNames('')), 'exactly one host'],
    ['the extension twice', clientHello(serverNames(HOST), serverNames('evil.test')), 'no ClientHello'],
    ['ECH', clientHello(serverNames(HOST), extension(0xfe0d, Buffer.from([0]))), 'ECH'],
    ['ESNI', clientHello(serverNames(HOST), extension(0xffce, Buffer.from([0]))), 'ECH'],
    ['a ServerHello', Buffer.concat([Buffer.from([2]), GOOD.subarray(1)]), 'no ClientHello'],
    ['something behind it', Buffer.concat([GOOD, Buffer.from([0])]), 'no ClientHello'],
    ['half of it', GOOD.subarray(0, 50), 'no ClientHello'],
  ])('X1 with %s is refused', (_, hello, reason) => {
    expect(readClientHello(hello)).toMatchObject({kind: 'refused', reason: expect.stringContaining(reason)});
  });

  test('X1 no bytes make the reader throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 300}), fc.nat(GOOD.length), (bytes, at) => {
        const mixed = Buffer.concat([GOOD.subarray(0, at), bytes, GOOD.subarray(at)]);
        expect(['named', 'refused']).toContain(readClientHello(mixed).kind);
        expect(['waiting', 'open', 'refused']).toContain(stateOf(record(mixed))?.kind);
      }),
      {numRuns: 300},
    );
  });
});

describe('what is sent into a tunnel', () => {
  const data = record(Buffer.alloc(40), 23);

  test('X1 TLS passes, however it is cut into chunks', () => {
    const whole = Buffer.concat([
      record(GOOD.subarray(0, 9)),
      record(GOOD.subarray(9)),
      record(Buffer.from([1]), 20),
      data,
      data,
    ]);
    for (let size = 1; size <= whole.length; size++) {
      const chunks = [];
      for (let at = 0; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size));
      expect(stateOf(...chunks)).toEqual({kind: 'open'});
    }
    expect(stateOf(record(GOOD).subarray(0, 30))).toEqual({kind: 'waiting'});
  });

  test.each([
    ['plain HTTP', [Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
    ['SSH', [Buffer.from('SSH-2.0-x\r\n')]],
    ['another name', [record(clientHello(serverNames('evil.test')))]],
    ['data before the ClientHello', [data]],
    ['an alert before it', [record(Buffer.from([1, 0]), 21)]],
    ['plain text behind the ClientHello', [record(GOOD), Buffer.from('GET / HTTP/1.1\r\n')]],
    ['plain text in the same chunk', [Buffer.concat([record(GOOD), Buffer.from('GET ')])]],
    ['plain text behind data', [record(GOOD), data, Buffer.from('CONNECT evil.test:443')]],
    ['an empty record', [record(Buffer.alloc(0))]],
    ['a record that is too long', [Buffer.from([22, 3, 1, 0xff, 0xff])]],
    ['a hello that is too long', [record(Buffer.from([1, 0xff, 0xff, 0xff, 3, 3]))]],
    ['a hello in crumbs', [Buffer.concat([...GOOD].map(byte => record(Buffer.from([byte]))))]],
    ['a second hello for another', [record(GOOD), record(clientHello(serverNames('evil.test')))]],
    [
      'a second hello behind a change of ciphers',
      [record(GOOD), record(Buffer.from([1]), 20), record(clientHello(serverNames('evil.test')))],
    ],
    ['a second hello in pieces', [record(GOOD), record(GOOD.subarray(0, 4))]],
    ['SSL 2', [Buffer.from([0x80, 0x2e, 1, 3, 1])]],
  ])('X1 %s is refused', (_, chunks) => {
    expect(stateOf(...chunks)).toMatchObject({kind: 'refused'});
  });
});
