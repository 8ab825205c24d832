import type {ScannedEntry} from './scan-entries.ts';

/** Why an entry goes. `unusable`: no fetch would serve it. */
export type PruneReason = 'expired' | 'unusable' | 'over_limit' | 'cleared';

/** What no fetch would serve, and of the rest what exceeds the limits: FR-WF-16d to FR-WF-16f, at once. */
export function choosePrunable(
  found: readonly ScannedEntry[],
  {maxEntries, maxBytes}: {readonly maxEntries: number; readonly maxBytes: number},
): ReadonlyMap<ScannedEntry, PruneReason> {
  const chosen = new Map<ScannedEntry, PruneReason>();
  const kept: ScannedEntry[] = [];
  for (const entry of found) {
    if (!entry.page) chosen.set(entry, 'unusable');
    else if (!entry.page.fresh) chosen.set(entry, 'expired');
    else kept.push(entry);
  }
  let count = kept.length;
  let bytes = kept.reduce((sum, {size}) => sum + size, 0);
  // FR-WF-CCH-LRU-01: the least recently used first; ties go by key.
  for (const entry of kept.sort(byLastAccess)) {
    if (count <= maxEntries && bytes <= maxBytes) break;
    chosen.set(entry, 'over_limit');
    count -= 1;
    bytes -= entry.size;
  }
  return chosen;
}

function byLastAccess(one: ScannedEntry, other: ScannedEntry): number {
  const difference = lastAccess(one) - lastAccess(other);
  return difference !== 0 ? difference : one.key < other.key ? -1 : 1;
}

function lastAccess({page}: ScannedEntry): number {
  return Date.parse(page?.last_accessed_at ?? '') || 0;
}
