import {randomBytes} from 'node:crypto';

/** The only gateway to randomness: `2 × bytes` lower-case hexadecimal digits. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
