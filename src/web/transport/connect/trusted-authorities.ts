import {readFileSync} from 'node:fs';
import * as tls from 'node:tls';

/**
 * Node's own trust anchors and ours. A list of one's own takes the place of everything that Node trusts
 * otherwise, the file of NODE_EXTRA_CA_CERTS included, so that is read here (review B10).
 */
export function trustedAuthorities(own: readonly string[], extraFile: string | undefined): string[] {
  // Node 22.15 and later; the types are those of Node 20.
  const {getCACertificates} = tls as typeof tls & {
    readonly getCACertificates?: (type: 'default') => readonly string[];
  };
  const known = getCACertificates?.('default') ?? tls.rootCertificates;
  return [...known, ...readExtra(extraFile), ...own];
}

/** As Node does, one goes on without a file that cannot be read: fewer are trusted, not more. */
function readExtra(file: string | undefined): readonly string[] {
  if (file === undefined || file === '') return [];
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    return [];
  }
}
