// The key file by which requests are signed.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import {dirname, resolve, sep} from 'node:path';
import {type Err, ok, type Result} from '../../core/result.ts';
import {errorCode} from '../../system/errors.ts';

/** A public key as the directory shows it (RFC 8037 §2). */
interface BotKeyJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  /** The public key, base64url. */
  readonly x: string;
}

/** What stands at `/.well-known/http-message-signatures-directory` of the origin that `agent_url` names. */
interface KeyDirectory {
  readonly keys: readonly (BotKeyJwk & {readonly kid: string; readonly use: 'sig'})[];
}

/** A new Ed25519 key: PEM, PKCS #8. */
function newBotKey(): string {
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

const MOST_BYTES = 4096;

/** Reads the key of a bot. The error is a sentence that says what is wrong with the file, without what it holds. */
export function readKeyFile(path: string, untrustedTrees: readonly string[]): Result<KeyObject, string> {
  let file: number | undefined;
  try {
    const real = realpathSync(path);
    if (isBelow(real, untrustedTrees)) {
      return problem(`${path} is in the workspace, where tools read it. Move the key elsewhere.`);
    }
    // What is checked is what is read: the handle, not the name. A FIFO must not keep anyone waiting.
    file = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(file);
    if (!status.isFile() || status.size > MOST_BYTES) return problem(`${path} is no file of a key.`);
    if (status.uid !== (process.getuid?.() ?? status.uid)) {
      return problem(`${path} belongs to another user. Make a key of your own with "forge-tools bot-key".`);
    }
    if ((status.mode & 0o077) !== 0) {
      return problem(`${path} can be read by other users. Run: chmod 600 ${path}`);
    }
    return parseKey(readFileSync(file, 'utf8'), path);
  } catch (error) {
    return problem(
      `${path} cannot be read (${errorCode(error) ?? 'no code'}). Make a key with "forge-tools bot-key".`,
    );
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function parseKey(pem: string, path: string): Result<KeyObject, string> {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return ok(key);
  } catch {
    // Said below: what is no key at all is no Ed25519 key either.
  }
  return problem(`${path} holds no Ed25519 key in PEM. Make one with "forge-tools bot-key".`);
}

export interface BotKey {
  /** False where the file was there: it is never written over. */
  readonly isNew: boolean;
  readonly directory: KeyDirectory;
}

/** The key of a file, which is made where there is none, with its directory. Nobody but the user can read it. */
export function openBotKey(path: string, untrustedTrees: readonly string[]): Result<BotKey, string> {
  let isNew = true;
  try {
    const directory = dirname(resolve(path));
    if (isBelow(realpathSync(firstThere(directory)), untrustedTrees)) {
      return problem(`${path} is in the directory you work in, where tools read it. Name a place elsewhere.`);
    }
    mkdirSync(directory, {recursive: true, mode: 0o700});
    writeFileSync(path, newBotKey(), {flag: 'wx', mode: 0o600});
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') {
      return problem(`${path} cannot be written (${errorCode(error) ?? 'no code'}).`);
    }
    isNew = false;
  }
  const key = readKeyFile(path, untrustedTrees);
  return key.ok ? ok({isNew, directory: keyDirectory(key.value)}) : key;
}

/** The directory, or the nearest above it that exists. */
function firstThere(directory: string): string {
  return existsSync(directory) ? directory : firstThere(dirname(directory));
}

function isBelow(path: string, trees: readonly string[]): boolean {
  return trees.some(tree => path === tree || path.startsWith(tree + sep));
}

function problem(error: string): Err<string> {
  return {ok: false, error};
}
