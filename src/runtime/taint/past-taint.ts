import type {EventPayload} from '../events/run-event.ts';

/** What the log of a run says was delivered in it. */
export interface PastTaint {
  readonly untrusted: readonly string[];
  readonly private: readonly string[];
  readonly hasSecret: boolean;
  /** Spent by choices among links. */
  readonly bits: number;
}

const MOST_ORIGINS = 1000;
/** Stands for deliveries that the log does not have. */
const UNKNOWN = 'an earlier session, of which the log does not say';

/** Reads the taint of earlier sessions out of the events of a run, one by one. */
export class TaintReader {
  readonly #untrusted = new Set<string>();
  readonly #private = new Set<string>();
  #hasSecret = false;
  #bits = 0;
  #followed = false;
  #calls = 0;

  add(event: string, payload: EventPayload): void {
    if (event === 'tool_call_finished') this.#calls += 1;
    if (event === 'taint_checked') {
      this.#followed = true;
      const {bits} = payload;
      if (typeof bits === 'number' && bits > 0) this.#bits += bits;
    }
    if (event !== 'taint_delivered') return;
    this.#followed = true;
    const {kind, origin, secrets} = payload;
    const origins = kind === 'untrusted' ? this.#untrusted : this.#private;
    if (origins.size < MOST_ORIGINS) origins.add(typeof origin === 'string' ? origin : UNKNOWN);
    if (typeof secrets === 'number' && secrets > 0) this.#hasSecret = true;
  }

  /**
   * `isDamaged`: lines may be missing at the end. Where they are, and where calls ended while nothing was followed,
   * both kinds of text count as delivered.
   */
  taint(isDamaged: boolean): PastTaint {
    const isUnknown = isDamaged || (this.#calls > 0 && !this.#followed);
    const more = isUnknown ? [UNKNOWN] : [];
    return {
      untrusted: [...more, ...this.#untrusted],
      private: [...more, ...this.#private],
      hasSecret: this.#hasSecret,
      bits: this.#bits,
    };
  }
}
