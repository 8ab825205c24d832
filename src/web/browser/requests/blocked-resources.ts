import {fail} from '../../../core/failure/fail.ts';
import {ok, type Result} from '../../../core/result.ts';

/** FR-WF-BLOCKRES-01: the CDP resource types. */
const RESOURCE_TYPES = [
  'Document',
  'Stylesheet',
  'Image',
  'Media',
  'Font',
  'Script',
  'TextTrack',
  'XHR',
  'Fetch',
  'Prefetch',
  'EventSource',
  'WebSocket',
  'Manifest',
  'SignedExchange',
  'Ping',
  'CSPViolationReport',
  'Preflight',
  'Other',
] as const;

export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** The types of `block_resources`, matched case-insensitively; an unknown one is `bad_args` at every call. */
export function readBlockedResources(entries: readonly string[]): Result<ReadonlySet<ResourceType>> {
  const blocked = new Set<ResourceType>();
  for (const entry of entries) {
    const type = RESOURCE_TYPES.find(known => known.toLowerCase() === entry.toLowerCase());
    if (!type) {
      return fail(
        'bad_args',
        `Unknown resource type "${entry}" in tools.webfetch.browser.block_resources. Use one of ${RESOURCE_TYPES.join(', ')}.`,
        {field: 'tools.webfetch.browser.block_resources', reason: `unknown resource type "${entry}"`},
      );
    }
    blocked.add(type);
  }
  return ok(blocked);
}
