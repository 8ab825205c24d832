import type {Failure} from '../../core/failure/failure.ts';

const PASSED_OVER: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ESTALE']);

/**
 * W3: what vanished, was exchanged or may not be read while a tree is gone through is not there. Whatever
 * else fails, such as the disk, must not make half an answer look like a whole one.
 */
export function isPassedOver({code, details}: Failure): boolean {
  return code !== 'io_error' || PASSED_OVER.has(String(details['error']));
}

/** Of what is passed over: there is something, and it may not be read. */
export function isUnreadable({code, details}: Failure): boolean {
  return code === 'io_error' && details['error'] !== 'ESTALE';
}
