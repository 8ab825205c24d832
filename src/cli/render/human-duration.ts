const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
];

/** The two largest units that count: `45s`, `3m 20s`, `2h`, `7d 1h`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  for (const [index, [size, name]] of UNITS.entries()) {
    if (seconds < size) continue;
    const [below, belowName] = UNITS[index + 1] ?? [1, 's'];
    const rest = Math.floor((seconds % size) / below);
    return `${Math.floor(seconds / size)}${name}${rest > 0 ? ` ${rest}${belowName}` : ''}`;
  }
  return `${seconds}s`;
}
