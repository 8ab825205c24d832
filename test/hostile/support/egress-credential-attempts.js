export const HOST = 'registry.test';
export const OTHER = 'other.test';
export const LIAR = 'liar.test';
export const PRIVATE = 'private.test';
export const PORTS = {registry: 18_443, other: 18_444, liar: 18_445, plain: 18_080};
export const SECRET = 'pk_7Yb2Qw9Zt4Lm1Xc8';

const AUTHORITY = `${HOST}:${PORTS.registry}`;
const head = (...lines) => `${lines.join('\r\n')}\r\n\r\n`;
const get = (path, ...fields) => head(`GET ${path} HTTP/1.1`, `Host: ${AUTHORITY}`, ...fields);
const post = (path, ...fields) => head(`POST ${path} HTTP/1.1`, `Host: ${AUTHORITY}`, ...fields);

/** To the host of the credential, by TLS in a tunnel. */
const known = (name, send, more = {}) => ({name, tunnel: AUTHORITY, sni: HOST, send, ...more});

/**
 * `heard` are the request lines with which the host of the credential is to hear the secret; of the others, none.
 *
 * @type {readonly {name: string, heard?: readonly string[]}[]}
 */
// biome-ignore format: a case is a line
export const ATTEMPTS = [
  known('reached: a request', get('/ok'), {heard: ['GET /ok']}),
  known('reached: two requests in one piece', get('/first') + get('/second'), {heard: ['GET /first']}),
  known('reached: a secret of its own', get('/mine', 'Authorization: mine', 'AUTHORIZATION: mine'), {heard: ['GET /mine']}),
  known('reached: the field named as one of the connection', get('/hop', 'Connection: authorization'), {heard: ['GET /hop']}),
  known('reached: a request in a body stays a body', post('/body', `Content-Length: ${get('/smuggled').length}`) + get('/smuggled'), {heard: ['POST /body']}),
  known('reached: a redirect, which nobody follows for the command', get('/redirect'), {heard: ['GET /redirect']}),
  known('reached: a header that is to come back', get('/echo'), {heard: ['GET /echo']}),
  // To others.
  {name: 'another host that is allowed', tunnel: `${OTHER}:${PORTS.other}`, sni: OTHER, send: head('GET /other HTTP/1.1', `Host: ${OTHER}:${PORTS.other}`)},
  {name: 'another host with the Host of the known one', tunnel: `${OTHER}:${PORTS.other}`, sni: OTHER, send: get('/other')},
  {name: 'the known host in SNI, another in CONNECT', tunnel: `${OTHER}:${PORTS.other}`, sni: HOST, send: get('/x')},
  {name: 'another host in SNI, the known one in CONNECT', tunnel: AUTHORITY, sni: OTHER, send: get('/x')},
  {name: 'the known host by plain HTTP', send: head(`GET http://${HOST}:${PORTS.plain}/plain HTTP/1.1`, `Host: ${HOST}:${PORTS.plain}`)},
  {name: 'the known host on another port', tunnel: `${HOST}:${PORTS.other}`, sni: HOST, send: get('/x')},
  {name: 'a host that proves to be another', tunnel: `${LIAR}:${PORTS.liar}`, sni: LIAR, send: head('GET /liar HTTP/1.1', `Host: ${LIAR}:${PORTS.liar}`)},
  {name: 'a host with a private address', tunnel: `${PRIVATE}:${PORTS.registry}`, sni: PRIVATE, send: head('GET /private HTTP/1.1', `Host: ${PRIVATE}:${PORTS.registry}`)},
  // Within the TLS that the gate ends.
  known('the Host of another', head('GET /x HTTP/1.1', `Host: ${OTHER}`)),
  known('two Hosts', get('/x', `Host: ${OTHER}`)),
  known('no Host', head('GET /x HTTP/1.1')),
  known('the address of another', get(`https://${OTHER}:${PORTS.other}/x`)),
  known('CONNECT to another', head(`CONNECT ${OTHER}:${PORTS.other} HTTP/1.1`, `Host: ${OTHER}`)),
  known('TRACE', head('TRACE /x HTTP/1.1', `Host: ${AUTHORITY}`)),
  known('a method of nobody', head('STEAL /x HTTP/1.1', `Host: ${AUTHORITY}`)),
  known('a length and chunks', `${post('/x', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`),
  known('two lengths', `${post('/x', 'Content-Length: 5', 'Content-Length: 6')}hello!`),
  known('another coding', `${post('/x', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`),
  known('bare line feeds', get('/x').replaceAll('\r', '')),
  known('a folded line', get('/x', 'A: b', ' Host: evil.test')),
  known('a space before the colon', get('/x', 'Content-Length : 5')),
  known('an upgrade', get('/x', 'Connection: Upgrade', 'Upgrade: h2c')),
  known('HTTP/2 at once', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  known('a line break in the path', get('/x\r\nHost: evil.test\r\nA: b')),
  known('a thousand fields', get('/x', ...Array(1000).fill('a: b'))),
  known('half a header', get('/x').slice(0, -4), {lateMs: 3000}),
  known('no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'),
  known('plain HTTP in the tunnel', get('/x'), {isPlain: true}),
];
