import {createHash} from 'node:crypto';
import type {RenderingMethod} from '../page.ts';

/** FR-WF-16, FR-WF-CCH-KEY-02: 64 lower-case hexadecimal digits. `url` is a canonical URL. */
export function cacheKey(url: string, method: RenderingMethod): string {
  return createHash('sha256').update(`${url}\n${method}`, 'utf8').digest('hex');
}
