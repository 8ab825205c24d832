import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Err} from '../../core/result.ts';
import type {BlockedAddress} from './classify-address.ts';

/** The failure for a blocked address; `host` is given where a name led to it. */
export function ssrfBlocked(blocked: BlockedAddress, host?: string): Err<Failure> {
  const {blocked_ip, cidr, toggle, description} = blocked;
  const subject = host === undefined ? `${blocked_ip} is` : `"${host}" resolves to ${blocked_ip},`;
  return fail('ssrf_blocked', `${subject} ${description} (${cidr}). Use a public address.`, {
    blocked_ip,
    cidr,
    toggle,
    host,
  });
}
