/** The first `length` UTF-16 code units as a string. */
export function textOfUnits(units: Uint16Array, length: number): string {
  return new TextDecoder('utf-16le', {ignoreBOM: true}).decode(units.subarray(0, length));
}
