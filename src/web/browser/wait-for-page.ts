import type {Budget} from '../../core/budget.ts';
import type {Clock} from '../../core/clock.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import type {NetworkIdle} from './network-idle.ts';
import {type Dom, isDomLargerThan, type PageFrame, readDom} from './read-dom.ts';
import type {MainDocument, RenderSettings} from './render-ports.ts';

interface Waiting {
  readonly frame: PageFrame;
  readonly idle: NetworkIdle;
  /** Resolves when there is nothing to wait for any more. */
  readonly failed: Promise<Err<Failure>>;
  readonly budget: Budget;
  readonly options: RenderSettings['options'];
  readonly clock: Clock;
  /** The document that the frame shows by what has been heard so far. */
  readonly shown: () => MainDocument;
}

export interface WaitedDom extends Dom {
  /** FR-WF-11f: read before the network was idle. */
  readonly partial: boolean;
  /** Whose text it is. */
  readonly document: MainDocument;
}

type Moment = 'idle' | 'time' | 'size';

/** FR-WF-DOMSIZE-01: how often a growing document is measured. */
const MEASURE_MS = 500;
/** Kept back for reading a document whose scripts do not stop by themselves. */
const READING_MS = 2500;
/** Scripts that keep a document from being read for longer than this are stopped. */
const PATIENCE_MS = 500;
const RETRY_MS = 50;

/** SRD 3.4.4: waits for the network to be idle, for `network_idle_ms` at most, and reads the document. */
export async function waitForPage(waiting: Waiting): Promise<Result<WaitedDom>> {
  const {frame, idle, budget, options, clock} = waiting;
  const maxBytes = options.max_rendered_dom_bytes;
  const failed = waiting.failed.then(failure => ({failure}));
  const waitMs = Math.min(options.network_idle_ms, budget.remainingMs() - READING_MS);
  const timer = startTimer(Math.max(0, waitMs), clock);
  const meter = startMeter(frame, maxBytes, clock);
  try {
    for (;;) {
      const quiet = idle.reached().then((): Moment => 'idle');
      const moment = await budget.race(Promise.race([failed, quiet, timer.time, meter.tooLarge]));
      if (!moment.ok) return moment;
      if (typeof moment.value !== 'string') return moment.value.failure;

      const document = waiting.shown();
      const dom = await budget.race(Promise.race([failed, readBusyDom(frame, maxBytes, clock)]));
      if (!dom.ok) return dom;
      if ('failure' in dom.value) return dom.value.failure;
      // The text and the word of a navigation can come at once: then it is not known whose text it is.
      const isSame = waiting.shown() === document;
      if (dom.value.ok && isSame) return ok({...dom.value.value, document, partial: moment.value === 'time'});
      // The document went away while it was read: there is another one to wait for.
      await pause(RETRY_MS, clock);
    }
  } finally {
    timer.stop();
    meter.stop();
  }
}

/** FR-WF-11f: the document as it is, even if its scripts never give the thread back. */
async function readBusyDom(frame: PageFrame, maxBytes: number, clock: Clock): Promise<Result<Dom, string>> {
  const {connection, sessionId} = frame;
  let cancel: () => void = () => {};
  const stopScripts = (): void => {
    void connection.send('Runtime.terminateExecution', {}, sessionId);
    cancel = clock.after(PATIENCE_MS, stopScripts);
  };
  cancel = clock.after(PATIENCE_MS, stopScripts);
  try {
    return await readDom(frame, maxBytes);
  } finally {
    cancel();
  }
}

function startTimer(ms: number, clock: Clock) {
  let stop: () => void = () => {};
  const time = new Promise<Moment>(resolve => {
    stop = clock.after(ms, () => resolve('time'));
  });
  return {time, stop};
}

function startMeter(frame: PageFrame, maxBytes: number, clock: Clock) {
  let stopped = false;
  let cancel: () => void = () => {};
  const tooLarge = new Promise<Moment>(resolve => {
    const measure = async (): Promise<void> => {
      if (await isDomLargerThan(frame, maxBytes)) resolve('size');
      else if (!stopped) cancel = clock.after(MEASURE_MS, () => void measure());
    };
    cancel = clock.after(MEASURE_MS, () => void measure());
  });
  const stop = (): void => {
    stopped = true;
    cancel();
  };
  return {tooLarge, stop};
}

function pause(ms: number, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    clock.after(ms, resolve);
  });
}
