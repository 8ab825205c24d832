import type {PausedRequest} from '../cdp/cdp-protocol.ts';

/**
 * Whether the answer is a stream of events, which has no end by design. It is handed over when it ends, and
 * nobody waits for that: a page that listens would never be idle.
 */
export function isEventStream({resourceType, request}: PausedRequest): boolean {
  if (resourceType === 'EventSource') return true;
  const accept = Object.entries(request.headers).find(([name]) => name.toLowerCase() === 'accept')?.[1];
  return accept?.startsWith('text/event-stream') ?? false;
}
