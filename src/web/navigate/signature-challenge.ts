import type {HttpResponse} from '../page.ts';

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429]);

/** RFC 9421 §5.1: which signatures a server asks for that does not answer without one. */
export function signatureChallenge({status, headers}: HttpResponse): string | undefined {
  return REFUSALS.has(status) ? headers.get('accept-signature')?.join(', ') : undefined;
}
