import {createHash, createPublicKey, generateKeyPairSync, type KeyObject} from 'node:crypto';

/** A public key as the directory shows it (RFC 8037 §2). */
export interface BotKeyJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  /** The public key, base64url. */
  readonly x: string;
}

/** What stands at `/.well-known/http-message-signatures-directory` of the origin that `agent_url` names. */
export interface KeyDirectory {
  readonly keys: readonly (BotKeyJwk & {readonly kid: string; readonly use: 'sig'})[];
}

/** A new Ed25519 key: PEM, PKCS #8. */
export function newBotKey(): string {
  const {privateKey} = generateKeyPairSync('ed25519');
  return privateKey.export({type: 'pkcs8', format: 'pem'}).toString();
}

export function publicJwk(key: KeyObject): BotKeyJwk {
  const {x} = createPublicKey(key).export({format: 'jwk'});
  if (key.asymmetricKeyType !== 'ed25519' || x === undefined) throw new TypeError('Expected an Ed25519 key.');
  return {kty: 'OKP', crv: 'Ed25519', x};
}

/** RFC 7638 §3, RFC 8037 appendix A.3: the members in this order, without blanks. */
export function thumbprintOf({crv, kty, x}: BotKeyJwk): string {
  return createHash('sha256').update(JSON.stringify({crv, kty, x})).digest('base64url');
}

export function keyDirectory(key: KeyObject): KeyDirectory {
  const jwk = publicJwk(key);
  return {keys: [{...jwk, kid: thumbprintOf(jwk), use: 'sig'}]};
}
