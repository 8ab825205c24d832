import type {Construction} from '../construction.ts';

/** HTML 13.2.6.4.7, "any other end tag": closes the element unless a special one is open in it. */
export function endOrdinary({open}: Construction, key: number): void {
  const slot = open.indexBelowOrdinary(key);
  if (slot > 0) open.shortenTo(slot);
}
