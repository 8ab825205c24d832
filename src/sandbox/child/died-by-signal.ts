/**
 * Ruling W20: what the `jobs` of a shell says of its one command: `[1] + Done(137)` in dash, `[1]+  Exit 137` in
 * bash, and the name of the signal (`[1] + Killed`) in both. Undefined where it says nothing.
 */
export function diedBySignal(lines: readonly string[]): boolean | undefined {
  const state = lines
    .map(line => /^\[1\]\s*[+-]?\s*(\S.*)/.exec(line)?.[1])
    .findLast(found => found !== undefined && !/^(?:Running|Stopped)\b/.test(found));
  return state === undefined ? undefined : !/^(?:Done|Exit)\b/.test(state);
}
