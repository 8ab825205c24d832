/** Lets one piece of work at a time touch what a key stands for; the others wait in turn. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<void>>();

  async hold<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const over = result.then(
      () => {},
      () => {},
    );
    this.#last.set(key, over);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key);
    }
  }
}
