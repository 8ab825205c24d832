/**
 * Matches a sequence of items with a pattern in which some elements stand for any number of items.
 * Two pointers and the last such element: at worst items × pattern steps, no recursion.
 */
export function wildcardMatch<Piece, Item>(
  pattern: readonly Piece[],
  items: readonly Item[],
  isAnyNumber: (piece: Piece) => boolean,
  matchesOne: (piece: Piece, item: Item) => boolean,
): boolean {
  let at = 0;
  let item = 0;
  let lastStar = -1;
  let resumeItem = 0;
  while (item < items.length) {
    const piece = pattern[at];
    if (piece !== undefined && isAnyNumber(piece)) {
      lastStar = at;
      resumeItem = item;
      at += 1;
    } else if (piece !== undefined && matchesOne(piece, items[item] as Item)) {
      at += 1;
      item += 1;
    } else if (lastStar >= 0) {
      // The last star takes one item more; earlier stars need not, what they took was enough.
      at = lastStar + 1;
      resumeItem += 1;
      item = resumeItem;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every(isAnyNumber);
}
