import {createHash, timingSafeEqual} from 'node:crypto';

/** RFC 6750 §2.1: what may stand behind `Bearer`. 32 characters are 128 bits in hexadecimal. */
const TOKEN = /^[A-Za-z0-9._~+/-]{32,512}=*$/;

/** Whether a token that the user chose is long enough and can be sent in a header. */
export function isBearerToken(token: string): boolean {
  return TOKEN.test(token);
}

/** Compares in constant time: digests have one length whatever was sent. */
export function carriesToken(authorization: string | undefined, token: string): boolean {
  const [, sent] = /^bearer +([^\s]+)\s*$/i.exec(authorization ?? '') ?? [];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
