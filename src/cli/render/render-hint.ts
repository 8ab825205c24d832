import type {FetchResponse} from '../../index.ts';

/** For standard error: why a page without text may have none. `undefined` where there is text. */
export function renderHint({final_url, chunks, rendering_method}: FetchResponse): string | undefined {
  if (chunks.length > 0) return undefined;
  return rendering_method === 'http'
    ? `${final_url} has no text. A script may make it: try --force-browser.\n`
    : `${final_url} has no text, not even after its scripts have run.\n`;
}
