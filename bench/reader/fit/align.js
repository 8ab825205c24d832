/** Which words of a page its truth has: those of the longest stretches in common, in order, then what is left over. */
export function alignedWords(page, truth) {
  const ids = new Map();
  const idOf = word => {
    let id = ids.get(word);
    if (id === undefined) {
      id = ids.size + 1;
      ids.set(word, id);
    }
    return id;
  };
  const found = Int32Array.from(page, idOf);
  const wanted = Int32Array.from(truth, idOf);
  const isFound = new Uint8Array(found.length);
  const isUsed = new Uint8Array(wanted.length);
  const context = {found, wanted, isFound, isUsed};
  alignRange(context, 0, found.length, 0, wanted.length, 0);
  matchLeftOvers(context);
  return {
    isFound,
    coverage: wanted.length === 0 ? 1 : isUsed.reduce((sum, one) => sum + one, 0) / wanted.length,
  };
}

const LENGTHS = [5, 3, 2, 1];
const LARGEST_GRID = 400_000;

function alignRange(context, first, end, wantedFirst, wantedEnd, level) {
  if (first >= end || wantedFirst >= wantedEnd) return;
  if (level === LENGTHS.length) {
    if ((end - first) * (wantedEnd - wantedFirst) <= LARGEST_GRID)
      commonSubsequence(context, first, end, wantedFirst, wantedEnd);
    return;
  }
  const anchors = anchorsOf(context, first, end, wantedFirst, wantedEnd, LENGTHS[level]);
  let at = first;
  let wantedAt = wantedFirst;
  const {found, wanted, isFound, isUsed} = context;
  for (const [start, wantedStart] of anchors) {
    if (start < at || wantedStart < wantedAt) continue;
    let from = start;
    let wantedFrom = wantedStart;
    while (from > at && wantedFrom > wantedAt && found[from - 1] === wanted[wantedFrom - 1]) {
      from--;
      wantedFrom--;
    }
    alignRange(context, at, from, wantedAt, wantedFrom, level + 1);
    while (from < end && wantedFrom < wantedEnd && found[from] === wanted[wantedFrom]) {
      isFound[from++] = 1;
      isUsed[wantedFrom++] = 1;
    }
    at = from;
    wantedAt = wantedFrom;
  }
  alignRange(context, at, end, wantedAt, wantedEnd, level + 1);
}

/** Stretches of `length` words that are in both ranges once, as far as their order agrees. */
function anchorsOf({found, wanted}, first, end, wantedFirst, wantedEnd, length) {
  const places = new Map();
  const note = (words, start, stop, side) => {
    for (let at = start; at + length <= stop; at++) {
      let key = 0;
      for (let step = 0; step < length; step++) key = (key * 1_000_003 + words[at + step]) % 9_007_199_254;
      const place = places.get(key);
      if (place === undefined) places.set(key, side === 0 ? [1, at, 0, -1] : [0, -1, 1, at]);
      else {
        place[side * 2]++;
        place[side * 2 + 1] = at;
      }
    }
  };
  note(wanted, wantedFirst, wantedEnd, 1);
  note(found, first, end, 0);
  const pairs = [];
  for (const [count, at, wantedCount, wantedAt] of places.values()) {
    if (count === 1 && wantedCount === 1) pairs.push([at, wantedAt]);
  }
  pairs.sort((one, other) => one[0] - other[0]);
  return increasing(pairs);
}

function increasing(pairs) {
  const ends = [];
  const before = new Int32Array(pairs.length);
  for (const [index, [, wantedAt]] of pairs.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]][1] < wantedAt) low = middle + 1;
      else high = middle;
    }
    before[index] = low > 0 ? ends[low - 1] : -1;
    ends[low] = index;
  }
  const chain = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index]) chain.push(pairs[index]);
  return chain.reverse();
}

function commonSubsequence({found, wanted, isFound, isUsed}, first, end, wantedFirst, wantedEnd) {
  const rows = end - first;
  const columns = wantedEnd - wantedFirst;
  const lengths = new Uint16Array((rows + 1) * (columns + 1));
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const here = row * (columns + 1) + column;
      lengths[here] =
        found[first + row] === wanted[wantedFirst + column]
          ? lengths[here + columns + 2] + 1
          : Math.max(lengths[here + columns + 1], lengths[here + 1]);
    }
  }
  let row = 0;
  let column = 0;
  while (row < rows && column < columns) {
    const here = row * (columns + 1) + column;
    if (found[first + row] === wanted[wantedFirst + column]) {
      isFound[first + row++] = 1;
      isUsed[wantedFirst + column++] = 1;
    } else if (lengths[here + columns + 1] >= lengths[here + 1]) row++;
    else column++;
  }
}

/** Truths are not always in the order of their page: stretches of four words are taken where they are. */
function matchLeftOvers({found, wanted, isFound, isUsed}) {
  const length = 4;
  const keyAt = (words, at) => `${words[at]},${words[at + 1]},${words[at + 2]},${words[at + 3]}`;
  const places = new Map();
  for (let at = 0; at + length <= wanted.length; at++) {
    if (isUsed[at] || isUsed[at + 1] || isUsed[at + 2] || isUsed[at + 3]) continue;
    const key = keyAt(wanted, at);
    if (!places.has(key)) places.set(key, []);
    places.get(key).push(at);
  }
  if (places.size === 0) return;
  for (let at = 0; at + length <= found.length; at++) {
    if (isFound[at] || isFound[at + 1] || isFound[at + 2] || isFound[at + 3]) continue;
    const place = places.get(keyAt(found, at))?.find(start => !isUsed[start] && !isUsed[start + 3]);
    if (place === undefined) continue;
    let from = at;
    let wantedFrom = place;
    while (
      from < found.length &&
      wantedFrom < wanted.length &&
      !isFound[from] &&
      !isUsed[wantedFrom] &&
      found[from] === wanted[wantedFrom]
    ) {
      isFound[from++] = 1;
      isUsed[wantedFrom++] = 1;
    }
    at = from - 1;
  }
}
