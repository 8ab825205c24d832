/** `words[start, start + length)` of one text are together in the other, from `at` on. */
export interface Run {
  readonly start: number;
  readonly length: number;
  readonly at: number;
}

interface State {
  readonly next: Map<string, number>;
  length: number;
  link: number;
  /** Where the words that it stands for end in the quote, at first. */
  readonly end: number;
}

/** The longest run of words that a quote shares with a text: a suffix automaton of the quote, one pass over the text. */
export function longestRun(quote: readonly string[], text: Iterable<string>): Run {
  const states = suffixAutomaton(quote);
  let best: Run = {start: 0, length: 0, at: 0};
  let state = 0;
  let length = 0;
  let index = 0;
  for (const word of text) {
    while (state > 0 && !states[state]?.next.has(word)) {
      state = states[state]?.link ?? 0;
      length = states[state]?.length ?? 0;
    }
    const next = states[state]?.next.get(word);
    if (next !== undefined) {
      state = next;
      length += 1;
      if (length > best.length) {
        best = {start: (states[state]?.end ?? 0) - length + 1, length, at: index - length + 1};
      }
    }
    index += 1;
  }
  return best;
}

function suffixAutomaton(words: readonly string[]): readonly State[] {
  const states: State[] = [{next: new Map(), length: 0, link: -1, end: -1}];
  const stateAt = (index: number): State => states[index] as State;
  let last = 0;
  for (const [end, word] of words.entries()) {
    const added = states.push({next: new Map(), length: stateAt(last).length + 1, link: 0, end}) - 1;
    let from = last;
    while (from >= 0 && !stateAt(from).next.has(word)) {
      stateAt(from).next.set(word, added);
      from = stateAt(from).link;
    }
    if (from >= 0) {
      const target = stateAt(from).next.get(word) as number;
      if (stateAt(from).length + 1 === stateAt(target).length) {
        stateAt(added).link = target;
      } else {
        const {next, link, end: targetEnd} = stateAt(target);
        const copy =
          states.push({next: new Map(next), length: stateAt(from).length + 1, link, end: targetEnd}) - 1;
        while (from >= 0 && stateAt(from).next.get(word) === target) {
          stateAt(from).next.set(word, copy);
          from = stateAt(from).link;
        }
        stateAt(target).link = copy;
        stateAt(added).link = copy;
      }
    }
    last = added;
  }
  return states;
}
