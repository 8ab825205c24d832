import type {Places} from '../../../core/async/places.ts';
import type {Clock} from '../../../core/clock.ts';
import type {Result} from '../../../core/result.ts';
import type {RunningBrowser} from '../chromium/start-chromium.ts';
import type {PageFrame} from '../read-dom.ts';
import {isAlive, openBlankPage} from './blank-page.ts';

/** A Chromium that has shown nothing but an empty page. */
export interface ReadyBrowser extends RunningBrowser {
  readonly blank: PageFrame;
}

/** What a call gets that takes the Chromium which waits. */
export interface TakenBrowser {
  /** Of its place, which is the caller's from here on. */
  readonly giveBack: () => void;
  /** `undefined` where it cannot be used; then it is gone. The one who gets it closes it. */
  readonly browser: Promise<ReadyBrowser | undefined>;
}

export interface ReadyPorts {
  readonly start: (signal: AbortSignal) => Promise<Result<RunningBrowser>>;
  /** See `ChromiumStarter.programNow`. */
  readonly programNow: () => Promise<string | undefined>;
  readonly places: Places;
  readonly maxInstances: number;
  readonly clock: Clock;
}

interface Waiting {
  readonly giveBack: () => void;
  readonly controller: AbortController;
  readonly browser: Promise<ReadyBrowser | undefined>;
  stopTimer: () => void;
}

const LONGEST_WAIT_MS = 60_000;

/**
 * One Chromium that waits, in its namespace, for the next page (`browser.keep_ready`). It is taken once and by one
 * call, gives its place to whoever would have to wait for one, and does not keep our process alive.
 */
export class ReadyChromium {
  readonly #ports: ReadyPorts;
  readonly #endings = new Set<Promise<void>>();
  #waiting: Waiting | undefined;
  #closed = false;

  constructor(ports: ReadyPorts) {
    this.#ports = ports;
  }

  /** Has one started, if none waits and a place is free. */
  make(): void {
    if (this.#closed || this.#waiting !== undefined) return;
    const {places, maxInstances, clock} = this.#ports;
    const giveBack = places.tryTakePreemptible(maxInstances, () => this.#end(waiting));
    if (giveBack === undefined) return;
    const controller = new AbortController();
    const browser = this.#prepare(controller.signal);
    const waiting: Waiting = {giveBack, controller, browser, stopTimer: () => {}};
    this.#waiting = waiting;
    void browser.then(ready => {
      if (ready === undefined) this.#end(waiting);
      if (ready === undefined || this.#waiting !== waiting) return;
      ready.chromium.hold(false);
      waiting.stopTimer = clock.after(LONGEST_WAIT_MS, () => this.#end(waiting), {holds: false});
      const {connection} = ready.chromium;
      connection.on('Inspector.targetCrashed', () => this.#end(waiting));
      void connection.closed.then(() => this.#end(waiting));
    });
  }

  /** Whoever calls first has it: nobody else gets it any more. It is ended when `signal` fires. */
  take(signal: AbortSignal): TakenBrowser | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) return undefined;
    this.#waiting = undefined;
    waiting.stopTimer();
    const abort = (): void => waiting.controller.abort();
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, {once: true});
    return {giveBack: waiting.giveBack, browser: this.#use(waiting)};
  }

  /** When it resolves, none waits and none is on its way. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#waiting) this.#end(this.#waiting);
    await Promise.all(this.#endings);
  }

  async #prepare(signal: AbortSignal): Promise<ReadyBrowser | undefined> {
    // Why it did not start is found again, and said, by the call that needs one.
    const started = await this.#ports.start(signal).catch(() => undefined);
    if (!started?.ok) return undefined;
    const {chromium, isolation} = started.value;
    // Outside of a namespace nothing would end it with us.
    const blank = isolation === 'namespace' ? await openBlankPage(chromium.connection) : undefined;
    if (blank !== undefined) return {...started.value, blank};
    await chromium.close();
    return undefined;
  }

  async #use({browser}: Waiting): Promise<ReadyBrowser | undefined> {
    const ready = await browser;
    if (ready === undefined) return undefined;
    const {chromium, blank, program} = ready;
    chromium.hold(true);
    const programNow = this.#ports.programNow().catch(() => undefined);
    const [now, alive] = await Promise.all([programNow, isAlive(blank)]);
    if (alive && now === program && !chromium.ranOutOfMemory()) return ready;
    await chromium.close();
    return undefined;
  }

  /** Ends the one that waits. One that was taken is none of them any more. */
  #end(waiting: Waiting): void {
    if (this.#waiting !== waiting) return;
    this.#waiting = undefined;
    waiting.stopTimer();
    waiting.controller.abort();
    const ending = waiting.browser.then(async ready => {
      await ready?.chromium.close();
      waiting.giveBack();
    });
    this.#endings.add(ending);
    void ending.finally(() => this.#endings.delete(ending));
  }
}
