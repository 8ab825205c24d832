/** `1 byte`, `2 bytes`. */
export function byteCount(bytes: number): string {
  return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
}
