import {Session} from 'node:inspector';

/**
 * The blocks of our modules that ran since it was last asked, as numbers; counted by the engine itself, so
 * that the code runs as it is shipped.
 */
export class BlockCoverage {
  #session = new Session();
  #numbers = new Map();

  constructor() {
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', {callCount: true, detailed: true});
  }

  /** `modules` are parts of the addresses of the modules that count. */
  take(modules) {
    const seen = [];
    for (const {scriptId, url, functions} of this.#post('Profiler.takePreciseCoverage').result) {
      if (!modules.some(part => url.includes(part))) continue;
      for (const {ranges} of functions) {
        for (const {startOffset, endOffset, count} of ranges) {
          if (count > 0) seen.push(this.#numberOf(`${scriptId}:${startOffset}:${endOffset}`));
        }
      }
    }
    return seen;
  }

  #numberOf(key) {
    const number = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, number);
    return number;
  }

  /** Commands of the profiler are answered before `post` returns. */
  #post(method, params) {
    let answer;
    this.#session.post(method, params, (error, result) => {
      if (error) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}
