/** How many characters of long texts a call may still bring into the page. */
export class Allowance {
  #left: number;
  #cut = 0;

  constructor(characters: number) {
    this.#left = characters;
  }

  /** Characters that were left out so far. */
  get cut(): number {
    return this.#cut;
  }

  /** The beginning of a text, as much as there is room for. */
  head(text: string, most = Number.POSITIVE_INFINITY): string {
    const size = this.#spend(text, most);
    return size === text.length ? text : text.slice(0, size);
  }

  /** The end of a text, from the beginning of a line. */
  tail(text: string, most: number): string {
    const size = this.#spend(text, most);
    if (size === text.length) return text;
    const end = text.slice(text.length - size);
    return end.slice(end.indexOf('\n') + 1);
  }

  #spend(text: string, most: number): number {
    const size = Math.max(0, Math.min(text.length, most, this.#left));
    this.#left -= size;
    this.#cut += text.length - size;
    return size;
  }
}
