import {generateKeyPairSync, type KeyObject, sign} from 'node:crypto';
import {isIP} from 'node:net';

export interface Certificate {
  /** PEM of the certificate, and of nothing else. */
  readonly pem: string;
  /** PEM of the certificate and its issuer, as a server presents it. */
  readonly chain: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

export interface LeafOptions {
  /** Host names and IP addresses that the certificate is good for. */
  readonly names: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

export interface CertificateAuthority {
  readonly pem: string;
  readonly issue: (options: LeafOptions) => Certificate;
}

const DAY_MS = 86_400_000;

/** A certificate authority that lives as long as the test. */
export function createCertificateAuthority(name = 'Test Authority'): CertificateAuthority {
  const authority = newKeys();
  const pem = certify({
    subject: name,
    issuer: name,
    keys: authority,
    signer: authority.privateKey,
    isAuthority: true,
  });
  return {
    pem,
    issue: ({names, notBefore, notAfter}) => {
      const keys = newKeys();
      const leaf = certify({
        subject: names[0] ?? 'nobody',
        issuer: name,
        keys,
        signer: authority.privateKey,
        isAuthority: false,
        names,
        notBefore,
        notAfter,
      });
      return {pem: leaf, chain: `${leaf}${pem}`, key: pemKey(keys.privateKey)};
    },
  };
}

/** A certificate that vouches for itself. */
export function createSelfSignedCertificate({names, notBefore, notAfter}: LeafOptions): Certificate {
  const keys = newKeys();
  const name = names[0] ?? 'nobody';
  const pem = certify({
    subject: name,
    issuer: name,
    keys,
    signer: keys.privateKey,
    isAuthority: false,
    names,
    notBefore,
    notAfter,
  });
  return {pem, chain: pem, key: pemKey(keys.privateKey)};
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

interface Contents {
  readonly subject: string;
  readonly issuer: string;
  readonly keys: Keys;
  readonly signer: KeyObject;
  readonly isAuthority: boolean;
  readonly names?: readonly string[];
  readonly notBefore?: Date | undefined;
  readonly notAfter?: Date | undefined;
}

let serialNumber = 1;

function newKeys(): Keys {
  return generateKeyPairSync('ec', {namedCurve: 'P-256'});
}

function pemKey(key: KeyObject): string {
  return key.export({type: 'pkcs8', format: 'pem'}).toString();
}

/** RFC 5280 §4.1, as much of it as OpenSSL asks for. */
function certify(contents: Contents): string {
  const {subject, issuer, keys, signer, isAuthority, names = []} = contents;
  const notBefore = contents.notBefore ?? new Date(Date.now() - DAY_MS);
  const notAfter = contents.notAfter ?? new Date(Date.now() + 30 * DAY_MS);
  serialNumber += 1;
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
  const extensions = [
    extension('2.5.29.19', sequence(...(isAuthority ? [der(0x01, Buffer.of(0xff))] : []))),
    ...(names.length > 0 ? [extension('2.5.29.17', sequence(...names.map(alternativeName)))] : []),
  ];
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(0x01, serialNumber >> 8, serialNumber & 0xff)),
    algorithm,
    distinguishedName(issuer),
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(subject),
    keys.publicKey.export({type: 'spki', format: 'der'}),
    der(0xa3, sequence(...extensions)),
  );
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, signer));
  const base64 = sequence(body, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${base64.trimEnd()}\n-----END CERTIFICATE-----\n`;
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function alternativeName(name: string): Buffer {
  const family = isIP(name);
  if (family === 0) return der(0x82, Buffer.from(name));
  return der(0x87, family === 4 ? Buffer.from(name.split('.').map(Number)) : addressBytes(name));
}

function addressBytes(address: string): Buffer {
  const [front = '', back] = address.split('::');
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : []);
  const head = groups(front);
  const tail = groups(back);
  const zeros = Array.from({length: 8 - head.length - tail.length}, () => '0');
  const all = [...head, ...zeros, ...tail].map(group => group.padStart(4, '0'));
  return Buffer.from(all.join(''), 'hex');
}

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(commonName)))));
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`));
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = rest.flatMap(arc => {
    const digits = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(0x06, Buffer.of(first * 40 + second, ...bytes));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const {length} = content;
  const size =
    length < 0x80
      ? Buffer.of(length)
      : length < 0x100
        ? Buffer.of(0x81, length)
        : Buffer.of(0x82, length >> 8, length & 0xff);
  return Buffer.concat([Buffer.of(tag), size, content]);
}
