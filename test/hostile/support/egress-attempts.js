import {clientHello, extension, record, serverNames} from '../../support/egress/client-hello.js';

export const HOST = 'registry.test';
export const TLS_PORT = 18_443;
export const PLAIN_PORT = 18_080;

const SOCKET = '/run/forge-egress/socket';
const bytes = text => Buffer.from(text, 'latin1');
const connect = (target, ...fields) =>
  bytes([`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, ...fields, '', ''].join('\r\n'));
const get = (...lines) => bytes([...lines, '', ''].join('\r\n'));
const TUNNEL = connect(`${HOST}:${TLS_PORT}`);
const PLAIN = `http://${HOST}:${PLAIN_PORT}`;
const PLAIN_HOST = `Host: ${HOST}:${PLAIN_PORT}`;
const hello = (...extensions) => record(clientHello(...extensions));
const NAMED = hello(extension(43, Buffer.from([2, 3, 4])), serverNames(HOST));

const proxy = (name, ...sends) => ({name, way: 'proxy', args: [], sends});
const direct = (name, way, ...args) => ({name, way, args, sends: [bytes('GET / HTTP/1.0\r\n\r\n')]});

/**
 * `reaches` are the controls. Of the others, none may be answered by anybody but the gate.
 *
 * @type {readonly {name: string, way: string, args: readonly (string | number)[], sends?: readonly Buffer[], reaches?: boolean}[]}
 */
// biome-ignore format: a case is a line
export const ATTEMPTS = [
  {...proxy('reached: plain HTTP', get(`GET ${PLAIN}/ok HTTP/1.1`, PLAIN_HOST)), reaches: true},
  {...proxy('reached: a tunnel, by the socket itself', TUNNEL, NAMED), way: 'unix', args: [SOCKET], reaches: true},
  // Without the proxy: the network of the sandbox is empty.
  direct('tcp to loopback of the host', 'tcp', '127.0.0.1', PLAIN_PORT),
  direct('tcp to a public address', 'tcp', '93.184.216.34', 443),
  direct('tcp to a private address', 'tcp', '10.0.0.5', 80),
  direct('tcp to the metadata address', 'tcp', '169.254.169.254', 80),
  direct('tcp over IPv6', 'tcp6', '2606:4700::1', 443),
  direct('tcp to loopback over IPv6', 'tcp6', '::1', PLAIN_PORT),
  direct('DNS by UDP', 'udp', '8.8.8.8', 53),
  direct('DNS by TCP', 'tcp', '8.8.8.8', 53),
  direct('DNS over TLS', 'tcp', '1.1.1.1', 853),
  direct('DNS to loopback of the host', 'udp', '127.0.0.53', 53),
  direct('QUIC', 'udp', '93.184.216.34', 443),
  direct('UDP over IPv6', 'udp6', '2606:4700::1', 443),
  direct('multicast', 'udp', '224.0.0.251', 5353),
  direct('broadcast', 'udp', '255.255.255.255', 67),
  direct('a raw socket', 'raw'),
  direct('a packet socket', 'packet'),
  direct('a socket to the hypervisor', 'vsock'),
  direct('an abstract socket', 'unix', '@forge-egress'),
  direct('the socket of Docker', 'unix', '/var/run/docker.sock'),
  direct('the bus of the system', 'unix', '/run/dbus/system_bus_socket'),
  {name: 'another socket in its place', way: 'replace', args: [SOCKET]},
  {name: 'an interface of its own', way: 'route', args: []},
  // By the proxy: other hosts.
  proxy('a host that is not allowed', connect('evil.test:443')),
  proxy('a host below the allowed one', connect(`evil.${HOST}:${TLS_PORT}`)),
  proxy('the allowed host on another port', connect(`${HOST}:22`)),
  proxy('a tunnel to the port of plain HTTP', connect(`${HOST}:${PLAIN_PORT}`)),
  proxy('plain HTTP to the port of TLS', get(`GET http://${HOST}:${TLS_PORT}/ HTTP/1.1`, `Host: ${HOST}:${TLS_PORT}`)),
  ...['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '0'].map(address => proxy(`the address ${address}`, connect(`${address}:${TLS_PORT}`))),
  proxy('the name localhost', connect('localhost:443')),
  proxy('the relay by itself', connect('localhost:3128')),
  proxy('the relay by plain HTTP', get('GET http://localhost/ HTTP/1.1', 'Host: localhost')),
  proxy('the metadata address by an allowed name', connect('metadata.test:443')),
  proxy('the metadata address by plain HTTP', get('GET http://metadata.test/latest HTTP/1.1', 'Host: metadata.test')),
  proxy('an answer of which one address is private', connect('public-and-private.test:443')),
  proxy('an opened answer of which one address is not', connect(`mixed.test:${TLS_PORT}`)),
  proxy('a name that rebinds, first', connect('rebinding.test:443')),
  proxy('a name that rebinds, again', connect('rebinding.test:443')),
  proxy('a private address in an IPv6 one', connect('mapped.test:443')),
  proxy('the address of nobody', connect('zero.test:443')),
  // Within a tunnel: something else than TLS to the named host.
  proxy('SNI of another host', TUNNEL, hello(serverNames('evil.test'))),
  proxy('no SNI', TUNNEL, hello()),
  proxy('two names in SNI', TUNNEL, hello(serverNames(HOST, 'evil.test'))),
  proxy('ECH', TUNNEL, hello(serverNames(HOST), extension(0xfe0d, Buffer.alloc(8)))),
  proxy('ECH in front of SNI', TUNNEL, hello(extension(0xfe0d, Buffer.alloc(8)), serverNames(HOST))),
  proxy('plain HTTP in a tunnel', TUNNEL, get('GET / HTTP/1.1', 'Host: evil.test')),
  proxy('SSH in a tunnel', TUNNEL, bytes('SSH-2.0-OpenSSH_9.2\r\n')),
  proxy('CONNECT in a tunnel', TUNNEL, connect('evil.test:443')),
  proxy('CONNECT behind CONNECT in one piece', Buffer.concat([TUNNEL, connect('evil.test:443')])),
  proxy('a ClientHello before the answer, of another host', Buffer.concat([TUNNEL, hello(serverNames('evil.test'))])),
  proxy('a hello in crumbs', TUNNEL, Buffer.concat([...clientHello(serverNames(HOST))].map(one => record(Buffer.from([one]))))),
  proxy('half a hello', Buffer.concat([TUNNEL, NAMED.subarray(0, 20)])),
  proxy('a tunnel with a body', connect(`${HOST}:${TLS_PORT}`, 'Content-Length: 5')),
  proxy('a tunnel with chunks', connect(`${HOST}:${TLS_PORT}`, 'Transfer-Encoding: chunked')),
  // Smuggling by the header.
  proxy('Host of another one', get(`GET ${PLAIN}/smuggled HTTP/1.1`, 'Host: evil.test')),
  proxy('two Hosts', get(`GET ${PLAIN}/smuggled HTTP/1.1`, PLAIN_HOST, 'Host: evil.test')),
  proxy('chunks and a length', get(`GET ${PLAIN}/smuggled HTTP/1.1`, PLAIN_HOST, 'Transfer-Encoding: chunked', 'Content-Length: 4')),
  proxy('a folded line', get(`GET ${PLAIN}/smuggled HTTP/1.1`, PLAIN_HOST, ' Host: evil.test')),
  proxy('a bare line feed', bytes(`GET ${PLAIN}/smuggled HTTP/1.1\n${PLAIN_HOST}\n\n`)),
  proxy('POST', get(`POST ${PLAIN}/smuggled HTTP/1.1`, PLAIN_HOST, 'Content-Length: 0')),
  proxy('an upgrade', get(`GET ${PLAIN}/smuggled HTTP/1.1`, PLAIN_HOST, 'Connection: Upgrade', 'Upgrade: h2c')),
  proxy('HTTP/2 at once', bytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')),
  proxy('a user in the address', get(`GET http://${HOST}@evil.test/ HTTP/1.1`, 'Host: evil.test')),
  proxy('a header without end', bytes(`GET ${PLAIN}/smuggled HTTP/1.1\r\n${'a: b\r\n'.repeat(4000)}`)),
  proxy('a thousand fields', get(`GET ${PLAIN}/smuggled HTTP/1.1`, PLAIN_HOST, ...Array(1000).fill('a: b'))),
  proxy('half a header', bytes(`GET ${PLAIN}/smuggled HTTP/1.1\r\n`)),
  proxy('SOCKS 5', Buffer.from([5, 1, 0])),
  proxy('SOCKS 4', Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0])),
  // The one behind it goes to nobody.
  {...proxy('reached: a second request behind the first', Buffer.concat([get(`GET ${PLAIN}/first HTTP/1.1`, PLAIN_HOST), get(`GET ${PLAIN}/second HTTP/1.1`, PLAIN_HOST)])), reaches: true},
];
