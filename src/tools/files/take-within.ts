import type {Json} from '../../core/json.ts';

/** As many of the first items as fit into `maxBytes` of compact JSON. */
export function takeWithin<Item extends Json>(items: readonly Item[], maxBytes: number): readonly Item[] {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > maxBytes) return items.slice(0, index);
  }
  return items;
}
