const INTERESTING = [
  0, 9, 10, 13, 32, 34, 39, 46, 47, 58, 60, 62, 64, 91, 92, 127, 128, 0xc0, 0xe2, 0xed, 0xf0, 0xff,
];

/** Another input, made of one of the corpus, parts of a second one, and words of the target. */
export function mutate(corpus, tokens, maxLength, random) {
  let input = random.pick(corpus);
  for (let change = 1 + random.below(6); change > 0; change -= 1) {
    input = random.pick(CHANGES)(input, {corpus, tokens, random});
  }
  return input.length > maxLength ? input.subarray(0, maxLength) : input;
}

const CHANGES = [
  // A bit, a byte, a byte that means something somewhere.
  (input, {random}) => replace(input, random, byte => byte ^ (1 << random.below(8))),
  (input, {random}) => replace(input, random, () => random.below(256)),
  (input, {random}) => replace(input, random, () => random.pick(INTERESTING)),
  // A word put in, or over what is there.
  (input, {tokens, random}) => splice(input, random.below(input.length + 1), 0, random.pick(tokens)),
  (input, {tokens, random}) => splice(input, random.below(input.length + 1), 0, random.pick(tokens)),
  (input, {tokens, random}) => {
    const token = random.pick(tokens);
    return splice(input, random.below(input.length + 1), token.length, token);
  },
  // A part taken out, doubled, moved, repeated.
  (input, {random}) => splice(input, random.below(input.length + 1), 1 + random.below(8), new Uint8Array()),
  (input, {random}) => splice(input, random.below(input.length + 1), 0, part(input, random)),
  (input, {random}) =>
    splice(input, random.below(input.length + 1), 1 + random.below(16), part(input, random)),
  (input, {random}) => {
    const repeated = part(input, random).subarray(0, 16);
    const times = 2 + random.below(30);
    return splice(input, random.below(input.length + 1), 0, Buffer.concat(Array(times).fill(repeated)));
  },
  // The beginning of one with the end of another, or a part of it.
  (input, {corpus, random}) => {
    const other = random.pick(corpus);
    return Buffer.concat([
      input.subarray(0, random.below(input.length + 1)),
      other.subarray(random.below(other.length + 1)),
    ]);
  },
  (input, {corpus, random}) =>
    splice(input, random.below(input.length + 1), 0, part(random.pick(corpus), random)),
];

function replace(input, random, make) {
  if (input.length === 0) return input;
  const copy = Uint8Array.from(input);
  const at = random.below(copy.length);
  copy[at] = make(copy[at]);
  return copy;
}

function splice(input, at, removed, added) {
  return Buffer.concat([input.subarray(0, at), added, input.subarray(at + removed)]);
}

function part(input, random) {
  const from = random.below(input.length + 1);
  return input.subarray(from, from + 1 + random.below(64));
}
