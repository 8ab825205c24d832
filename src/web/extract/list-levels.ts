interface List {
  readonly isOrdered: boolean;
  next: number;
}

const MAX_NUMBER = 999_999_999;

/** The open lists: how deep an item is (D6) and what marks it. */
export class ListLevels {
  #lists: List[] = [];
  readonly #outside: List[][] = [];

  /** The number of lists around the innermost one. */
  get level(): number {
    return Math.max(0, this.#lists.length - 1);
  }

  open(isOrdered: boolean, start: string | undefined): void {
    this.#lists.push({isOrdered, next: startNumber(start)});
  }

  close(): void {
    this.#lists.pop();
  }

  nextMarker(): string {
    const list = this.#lists.at(-1);
    return list?.isOrdered ? `${list.next++}. ` : '- ';
  }

  /** Inside a block quote, which is indented itself, lists count from there. */
  enterQuote(): void {
    this.#outside.push(this.#lists);
    this.#lists = [];
  }

  leaveQuote(): void {
    this.#lists = this.#outside.pop() ?? [];
  }
}

// D6: `ol` honours `start`, as far as CommonMark has such numbers.
function startNumber(start: string | undefined): number {
  const digits = /^[ \t\n\f\r]*\+?(\d{1,9})/.exec(start ?? '1')?.[1];
  return Math.min(Number(digits ?? 1), MAX_NUMBER);
}
