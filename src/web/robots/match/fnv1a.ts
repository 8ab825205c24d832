/** FNV-1a over character codes: start here and extend once per character. */
export const FNV1A_START = 0x811c9dc5 | 0;

export function fnv1aExtend(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}
