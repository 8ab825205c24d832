import {EMPHASIS, type InlineBuffer, STRONG, STRUCK} from './inline-buffer.ts';

const STYLES = [EMPHASIS, STRONG, STRUCK];
/** Room for an end per style, found by the style's bit. */
const WIDTH = STRUCK + 1;

/** For every piece of a block, how far its styles and its link last: one pass from the end, when first asked. */
export class RunEnds {
  readonly #buffer: InlineBuffer;
  #styleEnds: readonly number[] | undefined;
  #linkEnds: readonly number[] | undefined;

  constructor(buffer: InlineBuffer) {
    this.#buffer = buffer;
  }

  /** The piece that no longer has the style that `piece` has. */
  ofStyle(style: number, piece: number): number {
    this.#styleEnds ??= styleEnds(this.#buffer);
    return this.#styleEnds[piece * WIDTH + style] ?? 0;
  }

  ofLink(piece: number): number {
    this.#linkEnds ??= linkEnds(this.#buffer);
    return this.#linkEnds[piece] ?? 0;
  }
}

function styleEnds({styles}: InlineBuffer): readonly number[] {
  const ends = new Array<number>(styles.length * WIDTH).fill(0);
  for (let piece = styles.length - 1; piece >= 0; piece--) {
    for (const style of STYLES) {
      if (((styles[piece] ?? 0) & style) === 0) continue;
      ends[piece * WIDTH + style] = ends[(piece + 1) * WIDTH + style] || piece + 1;
    }
  }
  return ends;
}

function linkEnds({links}: InlineBuffer): readonly number[] {
  const ends = new Array<number>(links.length).fill(0);
  for (let piece = links.length - 1; piece >= 0; piece--) {
    ends[piece] = links[piece] === links[piece + 1] ? (ends[piece + 1] ?? 0) : piece + 1;
  }
  return ends;
}
