import type {ByteString} from '../byte-string.ts';

/** What is left to spend on searching. Shared by the hunks of a section, so that all of them together stay linear. */
export interface SearchAllowance {
  comparisons: number;
}

/** Finds blocks of lines. Built once for a file, and only if some hunk is not where it says. */
export class LineIndex {
  readonly #lines: readonly ByteString[];
  readonly #positions = new Map<ByteString, number[]>();
  readonly #key: (line: ByteString) => ByteString;

  /** Lines count as equal if `key` is. */
  constructor(lines: readonly ByteString[], key: (line: ByteString) => ByteString = line => line) {
    this.#lines = lines;
    this.#key = key;
    for (const [position, line] of lines.entries()) {
      const text = key(line);
      const known = this.#positions.get(text);
      if (known === undefined) this.#positions.set(text, [position]);
      else known.push(position);
    }
  }

  positions(line: ByteString): readonly number[] {
    return this.#positions.get(this.#key(line)) ?? [];
  }

  /**
   * Where the block begins, at most `limit` places, in order; undefined when the allowance ran out.
   * Candidates come from the rarest line of the block.
   */
  occurrences(block: readonly ByteString[], limit: number, allowance: SearchAllowance): number[] | undefined {
    let anchor = 0;
    let candidates = this.positions(block[0] ?? '');
    for (const [offset, line] of block.entries()) {
      const positions = this.positions(line);
      if (positions.length >= candidates.length) continue;
      anchor = offset;
      candidates = positions;
    }
    const found: number[] = [];
    for (const position of candidates) {
      const start = position - anchor;
      if (start < 0 || start + block.length > this.#lines.length) continue;
      let equal = 0;
      while (
        equal < block.length &&
        this.#key(this.#lines[start + equal] ?? '') === this.#key(block[equal] ?? '')
      ) {
        equal += 1;
      }
      allowance.comparisons -= equal + 1;
      if (equal === block.length) found.push(start);
      if (found.length === limit) break;
      if (allowance.comparisons < 0) return undefined;
    }
    return found;
  }
}
