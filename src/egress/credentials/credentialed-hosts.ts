import {readFileSync} from 'node:fs';
import {createSecureContext, rootCertificates, type SecureContext} from 'node:tls';
import type {Clock} from '../../core/clock.ts';
import type {EgressTarget} from '../../core/egress/egress-gate.ts';
import {createCertificateAuthority} from './certificate-authority.ts';

/** A secret that the gate adds to the requests for one host, so that no sandbox holds it. */
export interface EgressCredential {
  readonly host: string;
  readonly port: number;
  /** The header that carries it. */
  readonly header: string;
  /** Behind a function, so that nothing that prints an object has it. */
  readonly value: () => string;
  /** The setting it comes from. */
  readonly by: string;
}

/** The hosts for which the gate ends TLS, and for no others. */
export interface CredentialedHosts {
  /** PEM of the authorities that commands are to trust: those of the system, and the gate's own. */
  readonly bundle: string;
  readonly credentialOf: (target: EgressTarget) => EgressCredential | undefined;
  /** With what the gate speaks to commands in the place of a host. */
  readonly context: SecureContext;
  /** Whom the gate believes that a host is itself; `undefined` stands for what Node believes. */
  readonly authorities: readonly string[] | undefined;
}

/** Where systems have their authorities in one file: Debian, Fedora, Alpine and BSD. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

export function createCredentialedHosts(
  credentials: readonly EgressCredential[],
  authorities: readonly string[] | undefined,
  clock: Clock,
): CredentialedHosts {
  const {certificate, leaf} = createCertificateAuthority(
    [...new Set(credentials.map(({host}) => host))],
    clock,
  );
  return {
    bundle: `${systemBundle()}\n${certificate}`,
    credentialOf: ({scheme, host, port}) =>
      scheme === 'https'
        ? credentials.find(credential => credential.host === host && credential.port === port)
        : undefined,
    context: createSecureContext({cert: leaf.certificate, key: leaf.key, minVersion: 'TLSv1.2'}),
    authorities,
  };
}

function systemBundle(): string {
  for (const path of SYSTEM_BUNDLES) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // The next one, and in the end those that Node brings.
    }
  }
  return rootCertificates.join('\n');
}
