import type {ExtractionMode} from '../options.ts';

/**
 * R2: the address under which a page is cached. The SRD's key is that of the SRD's mode (FR-WF-CCH-KEY-02); canonical URLs
 * have no fragment, so one with it is no other page's.
 */
export function modeAddress(address: string, mode: ExtractionMode): string {
  return mode === 'reader' ? `${address}#reader` : address;
}
