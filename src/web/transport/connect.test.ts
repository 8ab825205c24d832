import {connect, type Socket} from 'node:net';
import {Worker} from 'node:worker_threads';
import {afterEach, describe, expect, test, vi} from 'vitest';
import {authorizeForTest} from '../../../test/support/authorize-for-test.ts';
import {callTransport} from '../../../test/support/call-transport.ts';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  createSelfSignedCertificate,
  type LeafOptions,
} from '../../../test/support/certificates.ts';
import {startHttpServer} from '../../../test/support/http-server.ts';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {startRawServer} from '../../../test/support/raw-server.ts';
import {Deadline} from '../../core/deadline.ts';
import {createHttpTransport} from './http-transport.ts';
import {handshakeProblem, socketProblem} from './network-error.ts';
import {canonicalAddress} from './proxy.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  vi.unstubAllEnvs();
});

function open(...args: Parameters<typeof createHttpTransport>): ReturnType<typeof createHttpTransport> {
  const transport = createHttpTransport(...args);
  closers.push(transport.close);
  return transport;
}

async function serve(...args: Parameters<typeof startHttpServer>): ReturnType<typeof startHttpServer> {
  const server = await startHttpServer(...args);
  closers.push(server.close);
  return server;
}

const hello = {'*': (_request: unknown, response: {end: (body: string) => unknown}) => response.end('hello')};

describe('addresses', () => {
  test('T-WF-SSRF-13 only the first two addresses are attempted', async () => {
    // The third one would answer, but the guard admitted two.
    const third = await serve(hello, {address: '127.0.0.4'});
    const result = await callTransport(
      open(),
      authorizeForTest(
        `http://many.example:${third.port}/?q=secret`,
        ['127.0.0.2', '127.0.0.3'],
        ['127.0.0.2', '127.0.0.3', '127.0.0.4'],
      ),
    );
    expect(result.ok || result.error).toEqual({
      code: 'network',
      message:
        '"many.example" refused the connection (ECONNREFUSED; tried 127.0.0.2, 127.0.0.3). ' +
        'Check host and port; retry if they are right.',
      retryable: true,
      details: {
        error: 'connection_refused',
        host: 'many.example',
        reason: 'ECONNREFUSED',
        addresses: ['127.0.0.2', '127.0.0.3'],
      },
    });
    expect(third.accepted()).toBe(0);
  });

  test('FR-WF-DNS-01 the next address serves where the first refuses, in the given order', async () => {
    const last = await serve(hello, {address: '127.0.0.4'});
    const second = await serve(hello, {address: '127.0.0.3', port: last.port});
    const target = authorizeForTest(`http://many.example:${last.port}/`, [
      '127.0.0.2',
      '127.0.0.3',
      '127.0.0.4',
    ]);
    const result = await callTransport(open(), target);
    expect(result.ok && result.value.status).toBe(200);
    expect([second.accepted(), last.accepted()]).toEqual([1, 0]);
  });

  test('ruling A5 a broken response does not lead to the next address', async () => {
    const second = await serve(hello, {address: '127.0.0.3'});
    const first = await startRawServer(socket => socket.destroy(), {address: '127.0.0.2', port: second.port});
    closers.push(first.close);
    const target = authorizeForTest(`http://many.example:${second.port}/`, ['127.0.0.2', '127.0.0.3']);
    const result = await callTransport(open(), target);
    expect(result.ok || result.error.code).toBe('network');
    expect([first.accepted(), second.accepted()]).toEqual([1, 0]);
  });

  test('FR-WF-06a no name is ever resolved', async () => {
    const server = await serve(hello);
    // Nothing under .invalid resolves, and the name of the URL is not what is connected to.
    const result = await callTransport(open(), authorizeForTest(`http://nowhere.invalid:${server.port}/`));
    expect(result.ok && Buffer.from(result.value.body).toString()).toBe('hello');
    expect(server.requestHeaders[0]?.host).toBe(`nowhere.invalid:${server.port}`);
    const named = authorizeForTest(`http://localhost:${server.port}/`, ['localhost']);
    await expect(callTransport(open(), named)).rejects.toThrow('Expected an IP address');
  });

  test('ruling A7 a remote address that is not pinned is blocked before anything is sent', async () => {
    const server = await startRawServer(() => {});
    closers.push(server.close);
    const target = authorizeForTest(
      `http://rebound.example:${server.port}/`,
      ['127.0.0.1'],
      ['93.184.216.34'],
    );
    const result = await callTransport(open(), target);
    expect(result).toMatchObject({
      ok: false,
      error: {
        code: 'ssrf_blocked',
        retryable: false,
        details: {blocked_ip: '127.0.0.1', host: 'rebound.example'},
      },
    });
    await server.allClosed();
    expect(server.heads).toEqual([]);
  });

  test('ruling A7 one address has one text', async () => {
    expect(canonicalAddress('::ffff:127.0.0.1')).toBe('127.0.0.1');
    expect(canonicalAddress('::FFFF:7f00:1')).toBe('127.0.0.1');
    expect(canonicalAddress('2001:DB8:0:0::1')).toBe('2001:db8::1');
    expect(canonicalAddress('10.0.0.1')).toBe('10.0.0.1');
    expect(canonicalAddress('')).toBe('');
    const server = await serve(hello);
    const target = authorizeForTest(
      `http://mapped.example:${server.port}/`,
      ['127.0.0.1'],
      ['::ffff:127.0.0.1'],
    );
    expect((await callTransport(open(), target)).ok).toBe(true);
  });

  test('FR-WF-DNS-01 an address that swallows packets leaves time for the next', {tags: 'slow'}, async () => {
    // A listener that never accepts: once its queue is full, the kernel drops further attempts.
    const worker = new Worker(
      `const {parentPort} = require('node:worker_threads');
       const server = require('node:net').createServer().listen({port: 0, host: '127.0.0.2', backlog: 1}, () => {
         parentPort.postMessage(server.address().port);
         setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
       });`,
      {eval: true},
    );
    closers.push(() => worker.terminate());
    const port = await new Promise<number>(resolve => worker.once('message', resolve));
    const fillers: Socket[] = [];
    closers.push(async () => {
      for (const socket of fillers) socket.destroy();
    });
    for (let index = 0; index < 6; index += 1) {
      const socket = connect({host: '127.0.0.2', port});
      socket.on('error', () => {});
      fillers.push(socket);
    }
    const second = await serve(hello, {address: '127.0.0.3', port});
    const target = authorizeForTest(`http://many.example:${port}/`, ['127.0.0.2', '127.0.0.3']);
    const result = await callTransport(open(), target, {timeoutMs: 1200});
    expect(result.ok && result.value.status).toBe(200);
    expect(second.accepted()).toBe(1);
    const alone = await callTransport(
      open(),
      authorizeForTest(`http://one.example:${port}/`, ['127.0.0.2']),
      {
        timeoutMs: 200,
      },
    );
    expect(alone.ok || alone.error.code).toMatch(/timeout|network/);
  });
});

describe('TLS', () => {
  const authority = createCertificateAuthority();
  const YESTERDAY = new Date(Date.now() - 86_400_000);
  const TOMORROW = new Date(Date.now() + 86_400_000);
  const issue = (options: LeafOptions): ReturnType<CertificateAuthority['issue']> => authority.issue(options);

  test('FR-WF-BSSR-TLS-01 SNI, Host and certificate are about the host of the URL', async () => {
    const server = await startRawServer(
      socket => {
        const name = 'servername' in socket ? String(socket.servername) : '';
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`);
      },
      {certificate: issue({names: ['*.shop.example']})},
    );
    closers.push(server.close);
    const result = await callTransport(
      open({ca: [authority.pem]}),
      authorizeForTest(`https://www.shop.example.:${server.port}/`),
    );
    expect(result.ok && Buffer.from(result.value.body).toString()).toBe('www.shop.example');
    expect(server.heads[0]).toContain(`Host: www.shop.example:${server.port}\r\n`);
  });

  test('FR-WF-BSSR-TLS-01 an IP literal needs a certificate for the address, and sends no SNI', async () => {
    const good = await startRawServer(
      socket => {
        const name = 'servername' in socket ? String(socket.servername) : '';
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`);
      },
      {certificate: issue({names: ['127.0.0.1', '::1']})},
    );
    closers.push(good.close);
    const result = await callTransport(open({ca: [authority.pem]}), authorizeForTest(`${good.origin}/`));
    expect(result.ok && Buffer.from(result.value.body).toString()).toBe('false');
  });

  // biome-ignore format: a case is a line
  const refusals: readonly (readonly [
    string,
    string,
    string,
    () => {readonly chain: string; readonly key: string; readonly pem: string},
  ])[] = [
    ['expired', 'shop.example', 'CERT_HAS_EXPIRED', () => issue({names: ['shop.example'], notAfter: YESTERDAY})],
    ['not yet valid', 'shop.example', 'CERT_NOT_YET_VALID', () => issue({names: ['shop.example'], notBefore: TOMORROW})],
    ['for another host', 'shop.example', 'ERR_TLS_CERT_ALTNAME_INVALID', () => issue({names: ['other.example']})],
    ['a wildcard too wide', 'a.b.example', 'ERR_TLS_CERT_ALTNAME_INVALID', () => issue({names: ['*.example']})],
    ['for the address, not the host', 'shop.example', 'ERR_TLS_CERT_ALTNAME_INVALID', () => issue({names: ['127.0.0.1']})],
    ['for another address', '127.0.0.1', 'ERR_TLS_CERT_ALTNAME_INVALID', () => issue({names: ['127.0.0.2']})],
    ['for a name where an address is asked', '127.0.0.1', 'ERR_TLS_CERT_ALTNAME_INVALID', () => issue({names: ['shop.example']})],
    ['self-signed', 'shop.example', 'DEPTH_ZERO_SELF_SIGNED_CERT', () => createSelfSignedCertificate({names: ['shop.example']})],
    ['of an unknown issuer', 'shop.example', 'SELF_SIGNED_CERT_IN_CHAIN', () => createCertificateAuthority('Other').issue({names: ['shop.example']})],
  ];

  test.each(refusals)(
    'FR-WF-BSSR-TLS-01 a certificate that is %s is refused, also with NODE_TLS_REJECT_UNAUTHORIZED=0',
    async (_name, host, reason, certificate) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      const server = await serve(hello, {certificate: certificate()});
      const unused = await serve(hello, {
        certificate: issue({names: [host]}),
        address: '127.0.0.2',
        port: server.port,
      });
      const target = authorizeForTest(`https://${host}:${server.port}/?q=secret`, ['127.0.0.1', '127.0.0.2']);
      const result = await callTransport(open({ca: [authority.pem]}), target);
      expect(result).toMatchObject({
        ok: false,
        error: {code: 'network', details: {error: 'tls_validation_failed', reason, host}},
      });
      expect(JSON.stringify(result)).not.toContain('secret');
      await server.allClosed();
      expect(server.requests).toEqual([]);
      // Ruling A5: a TLS failure is no failed connect, so the next address is not tried.
      expect(unused.accepted()).toBe(0);
    },
  );

  test('FR-WF-BSSR-TLS-01 a server that demands a client certificate is tls_validation_failed', async () => {
    const server = await serve(hello, {
      certificate: issue({names: ['shop.example']}),
      clientCa: authority.pem,
    });
    const target = authorizeForTest(`https://shop.example:${server.port}/`);
    const result = await callTransport(open({ca: [authority.pem]}), target);
    expect(result.ok || result.error.details['error']).toBe('tls_validation_failed');
    await server.allClosed();
  });

  test('FR-WF-BSSR-TLS-01 a server that speaks no TLS is tls_validation_failed, one that hangs up is not', async () => {
    const plain = await startRawServer(() => {}, {
      onConnection: socket => socket.write('HTTP/1.1 400 Bad\r\n\r\n'),
    });
    const mute = await startRawServer(() => {}, {onConnection: socket => socket.destroy()});
    closers.push(plain.close, mute.close);
    const outcome = async (port: number): Promise<unknown> => {
      const result = await callTransport(open(), authorizeForTest(`https://shop.example:${port}/`));
      return result.ok || result.error.details['error'];
    };
    expect(await outcome(plain.port)).toBe('tls_validation_failed');
    expect(await outcome(mute.port)).toBe('connection_reset');
  });

  test('ruling C3 a handshake that never ends is a timeout in phase tls', async () => {
    const clock = createManualClock();
    const budget = new Deadline(5000, clock);
    const server = await startRawServer(() => {}, {
      onConnection: socket => socket.once('data', () => setImmediate(() => clock.advance(5000))),
    });
    closers.push(server.close);
    const result = await callTransport(open(), authorizeForTest(`https://slow.example:${server.port}/`), {
      budget,
    });
    expect(result).toMatchObject({ok: false, error: {code: 'timeout', details: {phase: 'tls'}}});
    await server.allClosed();
    budget.close();
  });

  test('policy: TLS connections are kept alive and closed like plain ones', async () => {
    const server = await serve(hello, {certificate: issue({names: ['shop.example']})});
    const transport = open({ca: [authority.pem]});
    for (let round = 0; round < 3; round += 1) {
      const result = await callTransport(transport, authorizeForTest(`https://shop.example:${server.port}/`));
      expect(result.ok).toBe(true);
    }
    expect([server.accepted(), server.open()]).toEqual([1, 1]);
    await transport.close();
    await server.allClosed();
  });
});

describe('socket errors', () => {
  const failure = (code: string): Error => Object.assign(new Error('text'), {code});

  test.each([
    ['ECONNREFUSED', 'connection_refused'],
    ['ECONNRESET', 'connection_reset'],
    ['EPIPE', 'connection_reset'],
    ['ETIMEDOUT', 'connection_timed_out'],
    ['EHOSTUNREACH', 'host_unreachable'],
    ['ENETUNREACH', 'network_unreachable'],
    ['EADDRNOTAVAIL', 'address_unusable'],
    ['EACCES', 'connect_forbidden'],
    ['EMFILE', 'socket_error'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls_validation_failed'],
    ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'tls_broken'],
  ])('policy: %s on a connection is %s', (code, error) => {
    expect(socketProblem(failure(code))).toEqual({error, reason: code});
  });

  test.each([
    ['CERT_HAS_EXPIRED', 'tls_validation_failed'],
    ['EPROTO', 'tls_validation_failed'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_validation_failed'],
    ['ECONNRESET', 'connection_reset'],
  ])('policy: %s in the handshake is %s', (code, error) => {
    expect(handshakeProblem(failure(code))).toEqual({error, reason: code});
  });
});
