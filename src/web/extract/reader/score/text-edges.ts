/** What a text begins with: a letter, a figure, a sign of money, another sign. */
export function firstKind(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return 1;
  if (unit === 0x24 || unit === 0xa3 || unit === 0xa5 || unit === 0x20ac) return 2;
  if (unit === 0xa9) return 3;
  return unit < 0x30 || (unit >= 0x2010 && unit <= 0x2bff) ? 4 : 0;
}

/** What a text ends with: a letter, a figure, the end of a sentence, a colon, a question, an ellipsis, a bracket. */
export function lastKind(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return 1;
  if (unit === 0x2e || unit === 0x3002) return 2;
  if (unit === 0x3a) return 3;
  if (unit === 0x3f || unit === 0x21) return 4;
  if (unit === 0x2026) return 5;
  if (unit === 0x29 || unit === 0x5d) return 6;
  return unit < 0x41 || (unit >= 0x2010 && unit <= 0x2bff) ? 7 : 0;
}
