import type {Json} from '../../core/json.ts';

/** Whether a value has more than `levels` of lists and objects in each other. Walks without recursion. */
export function nestedDeeperThan(levels: number, value: Json): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth <= levels; depth++) {
    const below: Json[] = [];
    for (const entry of level) {
      if (typeof entry !== 'object' || entry === null) continue;
      for (const member of Object.values<Json>(entry)) below.push(member);
    }
    if (below.length === 0) return false;
    level = below;
  }
  return true;
}
