import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {createServer, type ServerResponse} from 'node:http';
import {createServer as createSecureServer} from 'node:https';
import {connect, type Socket} from 'node:net';
import {join} from 'node:path';
import {connect as secure} from 'node:tls';
import {expect, onTestFinished, test} from 'vitest';
import {createCertificateAuthority as createTestAuthority} from '../../../test/support/certificates.ts';
import {listen} from '../../../test/support/listening-server.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import type {EgressConnection} from '../../core/egress/egress-gate.ts';
import {ok} from '../../core/result.ts';
import {readAllowList} from '../allow-list.ts';
import {createGate} from '../create-gate.ts';
import {createCertificateAuthority} from './certificate-authority.ts';
import {createCredentialedHosts} from './credentialed-hosts.ts';

const SECRET = 'Bearer s3cr3t-s3cr3t';

type Answer = (response: ServerResponse, body: string, path: string) => void;

/** A host that wants a secret, the gate before it, and a command that speaks to the gate. */
async function open(answer: Answer, {maxBytes = 1e9} = {}) {
  const authority = createTestAuthority();
  const {chain, key} = authority.issue({names: ['a.test']});
  const heard: string[] = [];
  const connections: EgressConnection[] = [];
  const serve = createServer((request, response) => {
    let body = '';
    request.on('data', chunk => {
      body += chunk;
    });
    request.on('end', () => {
      heard.push(`${request.method} ${request.url} ${request.headers.authorization} ${body.length}`);
      answer(response, body, request.url ?? '');
    });
  });
  let accepted = 0;
  const server = createSecureServer({cert: chain, key}, (request, response) =>
    serve.emit('request', request, response),
  );
  server.on('connection', () => {
    accepted += 1;
  });
  const {port, close} = await listen(server, '127.0.0.1');
  onTestFinished(close);
  const by = 'tools.run.egress.credentials[0]';
  const credentials = [{host: 'a.test', port, header: 'Authorization', value: () => SECRET, by}];
  const credentialed = createCredentialedHosts(credentials, [authority.pem], systemClock);
  const gate = createGate({
    allowList: unwrap(readAllowList({allow: [`a.test:${port}`], presets: []}) as never),
    authorize: async () => ok(['127.0.0.1']),
    clock: systemClock,
    limits: {maxConnections: 100, maxBytes, maxConnectionMs: 60_000},
    places: [temporaryDirectory()],
    workspace: '/nonexistent',
    credentialed,
  });
  onTestFinished(() => gate.close());
  const channel = unwrap(await gate.open(undefined));
  channel.attach({onConnection: connection => connections.push(connection)});
  /** Sends it in a tunnel by TLS. The value is what was answered when `until` is in it, or the end. */
  const say = async (text: string, until?: string): Promise<string> => {
    const socket = connect(channel.socketPath);
    socket.write(`CONNECT a.test:${port} HTTP/1.1\r\nHost: a.test:${port}\r\n\r\n`);
    await new Promise(resolve => socket.once('data', resolve));
    const tls = secure({socket, servername: 'a.test', ca: credentialed.bundle});
    tls.write(text);
    return answerOf(tls, until);
  };
  return {say, heard, connections, host: `Host: a.test:${port}`, accepted: () => accepted};
}

function answerOf(socket: Socket, until?: string): Promise<string> {
  return new Promise(resolve => {
    let said = '';
    const finish = () => {
      socket.destroy();
      resolve(said);
    };
    socket.on('data', chunk => {
      said += chunk;
      if (until !== undefined && said.includes(until)) finish();
    });
    socket.on('error', () => {}).once('close', finish);
  });
}

test('X1 requests on one connection go to the host on one, each with the secret', async () => {
  const {say, heard, host, accepted, connections} = await open((response, body, path) =>
    response.end(`<${path}${body}>`),
  );
  const said = await say(
    `GET /one HTTP/1.1\r\n${host}\r\n\r\nPOST /two HTTP/1.1\r\n${host}\r\nContent-Length: 4\r\n\r\nbody`,
    '</twobody>',
  );
  expect(said).toContain('</one>');
  expect(heard).toEqual([`GET /one ${SECRET} 0`, `POST /two ${SECRET} 4`]);
  expect(accepted()).toBe(1);
  await expect
    .poll(() => connections)
    .toMatchObject([
      {
        decision: 'allowed',
        reason: 'Allowed by tools.run.egress.allow[0], with tools.run.egress.credentials[0].',
        address: '127.0.0.1',
      },
    ]);
  expect(connections[0]?.bytesUp).toBeGreaterThan(200);
  expect(connections[0]?.bytesDown).toBeGreaterThan(200);
});

test('X1 the connection ends where the host ends it, after a whole answer', async () => {
  const {say, host} = await open(response => {
    response.setHeader('connection', 'close');
    response.end('x'.repeat(300_000));
  });
  const said = await say(`GET / HTTP/1.1\r\n${host}\r\n\r\n`);
  expect(said).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*connection: close/i);
  expect(said.split('\r\n\r\n')[1]).toHaveLength(300_000);
});

test.each(['x-echo: it is s3cr3t-s3cr3t', `x-echo: ${SECRET}`])(
  'X1 an answer with the secret in its header is not passed on: %s',
  async field => {
    const {say, host, connections} = await open(response => {
      const [name = '', value = ''] = field.split(': ');
      response.setHeader(name, value);
      response.end('body');
    });
    const said = await say(`GET / HTTP/1.1\r\n${host}\r\n\r\n`);
    expect(said).toMatch(/^HTTP\/1\.1 502/);
    expect(said).not.toContain('s3cr3t');
    expect(connections).toMatchObject([{decision: 'refused', reason: expect.stringContaining('its header')}]);
  },
);

test('X1 a request that is refused reaches nobody, and ends the connection', async () => {
  const {say, heard, connections} = await open(response => response.end());
  const said = await say('GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n');
  expect(said).toMatch(/^HTTP\/1\.1 403[\s\S]*The Host is not that of the tunnel\./);
  expect(await say('CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n')).toBe('');
  expect(await say('no HTTP\r\n\r\n')).toBe('');
  expect(heard).toEqual([]);
  expect(connections.map(({decision}) => decision)).toEqual(['refused', 'refused', 'refused']);
});

test('X1 bytes count as those of a tunnel do', async () => {
  const {say, host, connections} = await open(response => response.end('x'.repeat(3_000_000)), {
    maxBytes: 1e6,
  });
  const said = await say(`GET / HTTP/1.1\r\n${host}\r\n\r\n`);
  expect(said.length).toBeLessThan(2_000_000);
  expect(connections).toMatchObject([{decision: 'refused', reason: expect.stringContaining('max_mb')}]);
});

test('X1 the authority vouches for its hosts alone, as strictly as OpenSSL can look', () => {
  const {certificate, leaf} = createCertificateAuthority(['a.test', 'b.test'], systemClock);
  const place = temporaryDirectory();
  const [ca, one] = ['ca.pem', 'one.pem'].map(name => join(place, name)) as [string, string];
  writeFileSync(ca, certificate);
  writeFileSync(one, leaf.certificate);
  const verify = (host: string) =>
    execFileSync(
      'openssl',
      ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', host, '-CAfile', ca, one],
      {encoding: 'utf8', stdio: 'pipe'},
    );
  expect(verify('a.test')).toContain('OK');
  expect(verify('b.test')).toContain('OK');
  expect(() => verify('c.test')).toThrow('ostname mismatch');
  const text = execFileSync('openssl', ['x509', '-noout', '-text', '-in', ca], {encoding: 'utf8'});
  expect(text).toMatch(/Name Constraints: critical\s+Permitted:\s+DNS:a\.test\s+DNS:b\.test/);
  expect(text).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
});
