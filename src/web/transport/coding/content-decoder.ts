import {ok, type Result} from '../../../core/result.ts';
import type {NetworkProblem} from '../network-failure.ts';
import {CodingLayer} from './coding-layer.ts';
import type {ContentCoding} from './content-coding.ts';

/** Undoes all codings of a body. No layer puts out more than `maxBytes` and one chunk (ruling C2). */
export class ContentDecoder {
  readonly #layers: readonly CodingLayer[];

  constructor(codings: readonly ContentCoding[], maxBytes: number) {
    this.#layers = codings.map(coding => new CodingLayer(coding, maxBytes));
  }

  /** A layer put out more than the limit. Stop: what follows would be incomplete. */
  get exceeded(): boolean {
    return this.#layers.some(layer => layer.exceeded);
  }

  feed(chunk: Buffer): Promise<Result<readonly Buffer[], NetworkProblem>> {
    return this.#feedFrom(0, [chunk]);
  }

  async finish(): Promise<Result<readonly Buffer[], NetworkProblem>> {
    const output: Buffer[] = [];
    for (const [index, layer] of this.#layers.entries()) {
      const rest = await layer.finish();
      if (!rest.ok) return rest;
      const decoded = await this.#feedFrom(index + 1, rest.value);
      if (!decoded.ok) return decoded;
      output.push(...decoded.value);
    }
    return ok(output);
  }

  destroy(): void {
    for (const layer of this.#layers) layer.destroy();
  }

  async #feedFrom(
    start: number,
    chunks: readonly Buffer[],
  ): Promise<Result<readonly Buffer[], NetworkProblem>> {
    let input = chunks;
    for (const layer of this.#layers.slice(start)) {
      const output: Buffer[] = [];
      for (const chunk of input) {
        const decoded = await layer.feed(chunk);
        if (!decoded.ok) return decoded;
        output.push(...decoded.value);
        if (layer.exceeded) break;
      }
      input = output;
    }
    return ok(input);
  }
}
