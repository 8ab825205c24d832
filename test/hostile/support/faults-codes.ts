import type {FaultCode, Operation} from './faults-injector.ts';

/** What can happen to such an operation. */
export function faultCodesFor({kind}: Operation): readonly [FaultCode, ...FaultCode[]] {
  if (/^(?:net|tls)\.|^socket/.test(kind)) return ['ECONNRESET'];
  if (/spawn|execFile|Worker/.test(kind)) return ['EAGAIN'];
  if (/open/.test(kind)) return ['EMFILE', 'EACCES'];
  if (kind === 'fs.writeSync') return ['ENOSPC', 'SHORT'];
  if (/write|mkdir|rename|link|copy/i.test(kind)) return ['ENOSPC'];
  return ['EIO'];
}
