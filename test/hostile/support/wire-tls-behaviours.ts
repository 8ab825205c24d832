import {randomBytes} from 'node:crypto';
import type {Socket} from 'node:net';
import {Duplex} from 'node:stream';
import {createSecureContext, type SecureContextOptions, TLSSocket, type TLSSocketOptions} from 'node:tls';
import {
  type Certificate,
  createCertificateAuthority,
  createSelfSignedCertificate,
} from '../../support/certificates.ts';
import {type Behaviour, DOCUMENT, FOLLOWED, type Message} from './wire-behaviours.ts';
import {close, drip, flood, reset, type WireScript, wait} from './wire-scripts.ts';

export const TLS_AUTHORITY = createCertificateAuthority('Authority of the wire');
const NAMES = ['*.wire.test'];
export const TLS_CERTIFICATE = TLS_AUTHORITY.issue({names: NAMES});

const YEAR_MS = 31_536_000_000;
const now = Date.now();

/** The TLS side of a server whose bytes can be watched, changed and cut below it. */
interface TlsEnd {
  readonly tls: TLSSocket;
  readonly tcp: Socket;
  /** From now on, what TLS would send goes through this. */
  tamper: (record: Buffer) => Buffer;
}

type Play = (end: TlsEnd, message: Message) => void;
type Settings = SecureContextOptions & Omit<TLSSocketOptions, 'isServer' | 'secureContext'>;

const lines = (message: Message): string => `HTTP/1.1 ${message.status}\r\n${message.fields}`;
const sizedHead = (message: Message): string =>
  `${lines(message)}Content-Length: ${message.body.length}\r\nConnection: close\r\n\r\n`;
const answer: Play = ({tls}, message) => void tls.end(sizedHead(message) + message.body);

/** Accepts with the given settings, and answers the first request as `play` says. */
function serve(settings: Settings = {}, play: Play = answer): Behaviour['script'] {
  return message =>
    ({tcp}) => {
      const end: TlsEnd = {
        tls: open(tcp, settings, record => end.tamper(record)),
        tcp,
        tamper: record => record,
      };
      end.tls.once('data', () => play(end, message));
    };
}

function open(tcp: Socket, settings: Settings, filter: (record: Buffer) => Buffer): TLSSocket {
  const below = new Duplex({
    read: () => {},
    write: (record: Buffer, _, done) => void tcp.write(filter(record), () => done()),
    final: done => void tcp.end(() => done()),
    destroy: (error, done) => {
      tcp.destroy();
      done(error);
    },
  });
  tcp.on('data', bytes => below.push(bytes));
  tcp.on('end', () => below.push(null));
  tcp.on('close', () => below.destroy());
  const {cert = TLS_CERTIFICATE.chain, key = TLS_CERTIFICATE.key, ...more} = settings;
  const secureContext = createSecureContext({cert, key, ...more});
  const tls = new TLSSocket(below, {...settings, isServer: true, secureContext});
  tls.on('error', () => {});
  return tls;
}

function refused(name: string, script: Behaviour['script'], error = 'tls_validation_failed'): Behaviour {
  return {
    name,
    script,
    stage: 'connect',
    expected: {
      document: `network/${error}`,
      redirect: `network/${error}`,
      // Ruling B3: a certificate that does not verify is a failure of the origin itself.
      robots: error === 'tls_validation_failed' ? `network/${error}` : `robots_unavailable/${error}`,
    },
  };
}

function accepted(name: string, script: Behaviour['script']): Behaviour {
  const expected = {document: DOCUMENT, redirect: FOLLOWED, robots: 'robots_disallowed/'};
  return {name, script, stage: 'connect', expected};
}

function stalled(name: string, script: WireScript): Behaviour {
  const expected = {
    document: 'timeout/tls',
    redirect: 'timeout/tls',
    robots: 'robots_unavailable/timeout',
  };
  return {name, script: () => script, stage: 'connect', expected, slow: true};
}

const presenting = (certificate: Certificate): Settings => ({cert: certificate.chain, key: certificate.key});
const issued = (names: readonly string[], from = -YEAR_MS, to = YEAR_MS): Settings =>
  presenting(TLS_AUTHORITY.issue({names, notBefore: new Date(now + from), notAfter: new Date(now + to)}));

// biome-ignore format: a case is a line
const CERTIFICATES: readonly Behaviour[] = [
  accepted('a good certificate', serve()),
  accepted('TLS 1.2', serve({maxVersion: 'TLSv1.2'})),
  accepted('a client certificate that is only asked for', serve({requestCert: true, rejectUnauthorized: false})),
  refused('a certificate that vouches for itself', serve(presenting(createSelfSignedCertificate({names: NAMES})))),
  refused('an unknown authority', serve(presenting(createCertificateAuthority('Somebody').issue({names: NAMES})))),
  refused('an authority of the same name', serve(presenting(createCertificateAuthority('Authority of the wire').issue({names: NAMES})))),
  refused('an expired certificate', serve(issued(NAMES, -YEAR_MS, -1000))),
  refused('a certificate of tomorrow', serve(issued(NAMES, 86_400_000, YEAR_MS))),
  refused('another name', serve(issued(['wire.example']))),
  refused('the parent name', serve(issued(['wire.test']))),
  refused('a wildcard over two labels', serve(issued(['*.test']))),
  refused('a wildcard over everything', serve(issued(['*']))),
  refused('a name with the right end', serve(issued(['evilwire.test']))),
  refused('a name cut by NUL', serve(issued(['*.wire.test\0.evil.test']))),
  refused('an address instead of the name', serve(issued(['127.1.0.1']))),
  refused('a demand for a client certificate', serve({requestCert: true, rejectUnauthorized: true})),
];

/** TLS 1.0 and 1.1 need it: OpenSSL 3 does not offer them otherwise. */
const WEAK = 'ALL:@SECLEVEL=0';
const record = (type: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.of(type, 3, 3, body.length >> 8, body.length & 0xff), body]);

// biome-ignore format: a case is a line
const HANDSHAKES: readonly Behaviour[] = [
  refused('TLS 1.0', serve({minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: WEAK})),
  refused('TLS 1.1', serve({minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: WEAK})),
  refused('ciphers without authentication', serve({maxVersion: 'TLSv1.2', ciphers: 'aNULL:@SECLEVEL=0'})),
  refused('ciphers without encryption', serve({maxVersion: 'TLSv1.2', ciphers: 'eNULL:@SECLEVEL=0'})),
  refused('HTTP/2 only', serve({ALPNProtocols: ['h2']})),
  refused('no such name', serve({SNICallback: (_, done) => done(new Error('unrecognized_name'))}), 'connection_reset'),
  refused('a chain of a thousand certificates', serve({cert: TLS_CERTIFICATE.chain + TLS_AUTHORITY.pem.repeat(1000)})),
  refused('plain HTTP', () => wait('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
  refused('noise', () => wait(Buffer.concat([Buffer.of(0xff), randomBytes(1000)]))),
  refused('a fatal alert', () => wait(record(21, Buffer.of(2, 40)))),
  refused('a message of 16 MB announced', () => wait(record(22, Buffer.concat([Buffer.of(2, 0xff, 0xff, 0xff), Buffer.alloc(1000)])))),
  refused('a record above 16 KiB', () => wait(Buffer.from('16030364ff', 'hex'))),
  refused('NULs without end', () => flood('', Buffer.alloc(65_536))),
  refused('empty records without end', () => flood('', record(22, Buffer.alloc(0)))),
  refused('warnings without end', () => flood('', record(21, Buffer.of(1, 90)))),
  refused('changes of cipher without end', () => flood('', record(20, Buffer.of(1)))),
  refused('the beginning of a handshake, then close', () => close(Buffer.from('160303007a0200', 'hex')), 'connection_reset'),
  refused('the beginning of a handshake, then reset', () => reset(Buffer.from('160303007a0200', 'hex')), 'connection_reset'),
  stalled('a handshake that never begins', wait('')),
  stalled('a handshake that never ends', wait(Buffer.from('160303007a0200', 'hex'))),
  stalled('a handshake byte by byte', drip(Buffer.from('16030340000200', 'hex'), Buffer.of(0))),
];

/** The head in a record of its own; then `rest`. */
function afterHead(head: (message: Message) => string, rest: Play): Play {
  return (end, message) => {
    end.tls.write(head(message), () => setImmediate(rest, end, message));
  };
}

function spoilt(name: string, play: Play, error: string, settings: Settings = {}): Behaviour {
  return {
    name,
    script: serve(settings, play),
    stage: 'connect',
    expected: {
      document: `network/${error}`,
      redirect: FOLLOWED,
      robots: `robots_unavailable/${error}`,
    },
  };
}

const chunkedHead = (message: Message): string => `${lines(message)}Transfer-Encoding: chunked\r\n\r\n`;
const closingHead = (message: Message): string => `${lines(message)}Connection: close\r\n\r\n`;
const half: Play = ({tls}, {body}) => void tls.write(body.slice(0, -3));
const flipLast = (bytes: Buffer): Buffer => {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
  return changed;
};
/** A FIN without the `close_notify` that TLS ends with: anybody on the way can send one. */
const cut: Play = ({tcp}) => void tcp.end();

const AFTER_THE_HANDSHAKE: readonly Behaviour[] = [
  spoilt(
    'half a body of declared length, then FIN without close_notify',
    afterHead(sizedHead, (end, message) => {
      half(end, message);
      cut(end, message);
    }),
    'truncated_body',
  ),
  spoilt(
    'chunks without an end, then FIN without close_notify',
    afterHead(chunkedHead, cut),
    'truncated_body',
  ),
  spoilt(
    'half a body, then close_notify',
    afterHead(sizedHead, ({tls}, {body}) => void tls.end(body.slice(0, -3))),
    'truncated_body',
  ),
  spoilt(
    'a damaged record',
    afterHead(sizedHead, (end, {body}) => {
      end.tamper = flipLast;
      end.tls.write(body);
    }),
    'tls_broken',
  ),
  spoilt(
    'plain text behind the head',
    afterHead(sizedHead, ({tcp}, {body}) => void tcp.write(body)),
    'tls_broken',
  ),
  spoilt(
    'the head once more, replayed',
    (end, message) => {
      let kept = Buffer.alloc(0);
      end.tamper = bytes => {
        kept = Buffer.concat([kept, bytes]);
        return bytes;
      };
      end.tls.write(sizedHead(message), () => setImmediate(() => end.tcp.write(kept)));
    },
    'tls_broken',
  ),
  spoilt(
    'one handshake after the other',
    afterHead(sizedHead, ({tls}) => {
      const again = (): void => {
        if (!tls.destroyed) tls.renegotiate({}, error => void (error || again()));
      };
      again();
    }),
    'tls_validation_failed',
    {maxVersion: 'TLSv1.2'},
  ),
  // A limit: Node ends a TLS stream alike for close_notify and for a bare FIN, so what has no length may be cut.
  accepted(
    'a body until FIN without close_notify',
    serve(
      {},
      afterHead(closingHead, (end, message) => {
        end.tls.write(message.body, () => setImmediate(cut, end, message));
      }),
    ),
  ),
  accepted(
    'a body until close_notify, without FIN',
    serve({}, (end, message) => {
      end.tls.write(closingHead(message) + message.body);
      end.tls.end();
    }),
  ),
  accepted(
    'plain text behind close_notify',
    serve({}, (end, message) => {
      end.tls.end(sizedHead(message) + message.body, () => {});
      end.tls.once('finish', () => end.tcp.write('Poisoned'));
    }),
  ),
];

export const TLS_BEHAVIOURS: readonly Behaviour[] = [...CERTIFICATES, ...HANDSHAKES, ...AFTER_THE_HANDSHAKE];
