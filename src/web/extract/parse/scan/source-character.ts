/** HTML's white space; a CR is not in a source any more. */
export function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x0c;
}

/** Whether a code unit ends a tag name. */
export function endsName(unit: number): boolean {
  return unit === 0x3e || unit === 0x2f || isBlank(unit);
}

export function isLetter(unit: number): boolean {
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
