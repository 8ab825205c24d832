import {toUrl} from '../../../core/text/to-url.ts';

/** Largest piece of memory: a stream of a few hundred bytes can say that it unpacks to gigabytes. */
const LARGEST_BYTES = 67_108_864;
/** All pieces together, those that are free again included. */
const MOST_BYTES = 4_294_967_296;

const ARRAYS = [
  'ArrayBuffer',
  'Uint8Array',
  'Uint8ClampedArray',
  'Uint16Array',
  'Int16Array',
  'Uint32Array',
  'Int32Array',
  'Float32Array',
  'Float64Array',
] as const;

/**
 * Makes of this thread one for a PDF: it prints nothing, has no `fetch`, and what it allocates outside the heap,
 * which the limits of a thread do not know, is bounded. Adds what Node 20 lacks and the reader needs.
 */
export function prepareThread(): void {
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) console[method] = () => {};
  for (const name of ['fetch', 'WebSocket', 'XMLHttpRequest', 'EventSource']) {
    Object.defineProperty(globalThis, name, {value: undefined, configurable: true, writable: true});
  }
  addMissing(Promise, 'withResolvers', withResolvers);
  addMissing(URL, 'parse', parseUrl);
  boundAllocations();
}

function boundAllocations(): void {
  let total = 0;
  for (const name of ARRAYS) {
    const native: {readonly BYTES_PER_ELEMENT?: number} & (new (...given: unknown[]) => object) =
      globalThis[name];
    const bounded: typeof native = new Proxy(native, {
      construct(target, given: unknown[], newTarget) {
        const [length] = given;
        if (typeof length === 'number') {
          const bytes = length * (target.BYTES_PER_ELEMENT ?? 1);
          total += bytes > 0 ? bytes : 0;
          if (bytes > LARGEST_BYTES || total > MOST_BYTES)
            throw new RangeError('Too much memory is asked for.');
        }
        return Reflect.construct(target, given, newTarget === bounded ? target : newTarget);
      },
    });
    Object.assign(globalThis, {[name]: bounded});
  }
}

function addMissing(target: object, name: string, value: unknown): void {
  if (!(name in target)) Object.defineProperty(target, name, {value, configurable: true, writable: true});
}

function withResolvers() {
  let resolve: (value: unknown) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return {promise, resolve, reject};
}

function parseUrl(url: string, base?: string): URL | null {
  return toUrl(url, base) ?? null;
}
