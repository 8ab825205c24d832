// Issues certificates for the hosts that have a credential, so that the gate can read their requests. Keys stay in
// memory.
import {createHash, generateKeyPairSync, type KeyObject, sign} from 'node:crypto';
import {type Clock, randomHex} from '../core/clock.ts';

const DAY_MS = 86_400_000;
/** Of clocks that differ. */
const DAYS_BEFORE = 1;
const DAYS_AFTER = 90;
const AUTHORITY = 'forge-tools: authority of one session';
const LEAF = 'forge-tools: way out of a sandbox';

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const EXTENSIONS = {
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKey: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** An authority that may vouch for a few hosts, and what it has issued. Its key is forgotten when it is made. */
interface CertificateAuthority {
  /** PEM, for whoever is to trust it. */
  readonly certificate: string;
  /** For all of the hosts. PEM. */
  readonly leaf: {readonly certificate: string; readonly key: string};
}

interface Contents {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

/** RFC 5280, as strict as OpenSSL can be asked to read it. Both keys are in memory and nowhere else. */
export function createCertificateAuthority(hosts: readonly string[], clock: Clock): CertificateAuthority {
  const authority = generateKeyPairSync('ec', {namedCurve: 'P-256'});
  const leaf = generateKeyPairSync('ec', {namedCurve: 'P-256'});
  const issue = (contents: Contents): string =>
    certificateOf(contents, {signer: authority.privateKey, now: clock.now()});
  const names = hosts.map(host => der(0x82, Buffer.from(host)));
  const certificate = issue({
    subject: AUTHORITY,
    publicKey: authority.publicKey,
    extensions: [
      extension('basicConstraints', sequence(der(0x01, Buffer.of(0xff)), der(0x02, Buffer.of(0))), true),
      // keyCertSign
      extension('keyUsage', bitString(2, Buffer.of(0b100)), true),
      // It would be believed for nothing else, had its key not been forgotten.
      extension('nameConstraints', sequence(der(0xa0, ...names.map(name => sequence(name)))), true),
      extension('subjectKey', octetString(keyId(authority.publicKey))),
    ],
  });
  const issued = issue({
    subject: LEAF,
    publicKey: leaf.publicKey,
    extensions: [
      extension('basicConstraints', sequence(), true),
      // digitalSignature
      extension('keyUsage', bitString(7, Buffer.of(0b1000_0000)), true),
      extension('extendedKeyUsage', sequence(objectId(SERVER_AUTH))),
      extension('alternativeNames', sequence(...names)),
      extension('subjectKey', octetString(keyId(leaf.publicKey))),
      extension('authorityKey', sequence(der(0x80, keyId(authority.publicKey)))),
    ],
  });
  const key = leaf.privateKey.export({type: 'pkcs8', format: 'pem'}).toString();
  return {certificate, leaf: {certificate: issued, key}};
}

function certificateOf(
  {subject, publicKey, extensions}: Contents,
  {signer, now}: {readonly signer: KeyObject; readonly now: number},
): string {
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
  const validity = [now - DAYS_BEFORE * DAY_MS, now + DAYS_AFTER * DAY_MS].map(ms => utcTime(new Date(ms)));
  const body = sequence(
    // Version 3
    der(0xa0, der(0x02, Buffer.of(2))),
    // Positive, and not seen before.
    der(0x02, Buffer.of(1), Buffer.from(randomHex(8), 'hex')),
    algorithm,
    distinguishedName(AUTHORITY),
    sequence(...validity),
    distinguishedName(subject),
    publicKey.export({type: 'spki', format: 'der'}),
    der(0xa3, sequence(...extensions)),
  );
  return pem(sequence(body, algorithm, bitString(0, sign('sha256', body, signer))));
}

function extension(name: keyof typeof EXTENSIONS, value: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? [der(0x01, Buffer.of(0xff))] : [];
  return sequence(objectId(EXTENSIONS[name]), ...critical, octetString(value));
}

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(objectId(COMMON_NAME), der(0x0c, Buffer.from(commonName)))));
}

function keyId(key: KeyObject): Buffer {
  const bytes = key.export({type: 'spki', format: 'der'});
  return createHash('sha256').update(bytes).digest().subarray(0, 20);
}

/** ITU-T X.690 §8.1: a tag, the length and the contents. */
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

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

/** Of which `unused` bits at the end do not count. */
function bitString(unused: number, bytes: Buffer): Buffer {
  return der(0x03, Buffer.of(unused), bytes);
}

function octetString(bytes: Buffer): Buffer {
  return der(0x04, bytes);
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = rest.flatMap(arc => {
    const digits = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(0x06, Buffer.of(first * 40 + second, ...bytes));
}

/** RFC 5280 §4.1.2.5.1, for dates before 2050. */
function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(digits.slice(2)));
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
