import {EMPHASIS, type InlineBuffer, STRONG, STRUCK} from './inline-buffer.ts';

/** For every piece of a block, how far its styles and its link last: one pass from the end. */
export class RunEnds {
  readonly #styleEnds: ReadonlyMap<number, Int32Array>;
  readonly #linkEnds: Int32Array;

  constructor({kinds, styles, links}: InlineBuffer) {
    const count = kinds.length;
    this.#linkEnds = new Int32Array(count + 1);
    this.#styleEnds = new Map([EMPHASIS, STRONG, STRUCK].map(style => [style, new Int32Array(count + 1)]));
    for (let piece = count - 1; piece >= 0; piece--) {
      const next = piece + 1;
      for (const [style, ends] of this.#styleEnds) {
        if (((styles[piece] ?? 0) & style) !== 0) ends[piece] = ends[next] || next;
      }
      this.#linkEnds[piece] = links[piece] === links[next] ? (this.#linkEnds[next] ?? next) : next;
    }
  }

  /** The piece that no longer has the style that `piece` has. */
  ofStyle(style: number, piece: number): number {
    return this.#styleEnds.get(style)?.[piece] ?? 0;
  }

  ofLink(piece: number): number {
    return this.#linkEnds[piece] ?? 0;
  }
}
