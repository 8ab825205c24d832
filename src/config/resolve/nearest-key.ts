import {editDistance} from '../../core/text/edit-distance.ts';

/** Longer keys are compared by their beginning; no known key is half as long. */
const COMPARED = 64;

/**
 * The known key (a dotted path) that was most likely meant by an unknown one: the closest name,
 * in the same section rather than in another one, the first of equals.
 */
export function nearestKey(unknown: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const elsewhere = parentOf(candidate) === parentOf(unknown) ? 0 : 1;
    const distance = editDistance(nameOf(unknown), nameOf(candidate)) + elsewhere;
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).slice(0, COMPARED);
}
