import {readFileSync} from 'node:fs';
import {errorCode} from '../system/error-code.ts';

/** Tells a kernel and its start from every other one; '' where the system does not say. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return '';
  }
}
