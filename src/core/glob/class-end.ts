/** Index of the `]` that ends the class at `start`; `start` itself where nothing ends it. */
export function classEnd(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === '!' || pattern[at] === '^') at += 1;
  // A "]" in first place is a member.
  if (pattern[at] === ']') at += 1;
  for (; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === ']') return at;
  }
  return start;
}
