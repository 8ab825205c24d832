import {editDistance} from './edit-distance.ts';

/** The name that is at most a third of its letters away from what was written; the first of equals. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > 64) return undefined;
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(plain(written), plain(name));
    if (distance < least && distance * 3 <= name.length) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}
