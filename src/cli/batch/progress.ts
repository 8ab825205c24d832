// Shows how a batch stands: a line that moves on a terminal, and a summary at the end.
import type {Clock} from '../../core/clock.ts';
import {type Console, printable, styled} from '../console.ts';
import {groupDigits, humanDuration, humanSize} from '../text-layout.ts';
import type {BatchSummary, BatchTally} from './outcome.ts';

/** No more often than this, however fast pages come. */
const FRAME_MS = 100;
/** And no less often, so that time and pauses go on while nothing comes. */
const IDLE_MS = 1000;
/** What the rate is measured over. */
const WINDOW_MS = 15_000;
const GAP = '  ';
const BAR_WIDTH = 20;
/** Terminals narrower than this have better uses for their columns. */
const WIDE = 100;

interface Segment {
  /** From long to short; the first that fits is shown. */
  readonly texts: readonly string[];
  readonly style?: 'red' | 'yellow' | 'bold';
}

interface Sample {
  readonly at: number;
  readonly finished: number;
}

/**
 * One line at the bottom of a terminal that says how a batch goes. It is rewritten in place with a carriage
 * return and blanks alone, which every terminal understands.
 */
export class ProgressLine {
  readonly #tally: BatchTally;
  readonly #console: Console;
  readonly #clock: Clock;
  readonly #queue: {readonly paused: number};
  readonly #samples: Sample[] = [];
  #drawnAt = Number.NEGATIVE_INFINITY;
  #width = 0;
  #cancelTimer: (() => void) | undefined;
  #ended = false;

  constructor(tally: BatchTally, queue: {readonly paused: number}, console: Console, clock: Clock) {
    this.#tally = tally;
    this.#queue = queue;
    this.#console = console;
    this.#clock = clock;
  }

  /** Something has changed: it is shown soon. */
  update(): void {
    if (this.#ended) return;
    const due = this.#drawnAt + FRAME_MS - this.#clock.monotonic();
    if (due <= 0) this.#draw();
    else this.#sleep(due);
  }

  /** Takes the line away, for something else to be written. The next update brings it back. */
  clear(): void {
    if (this.#width === 0) return;
    this.#write(`\r${' '.repeat(this.#width)}\r`);
    this.#width = 0;
  }

  end(): void {
    this.#ended = true;
    this.#cancelTimer?.();
    this.clear();
  }

  #draw(): void {
    this.#drawnAt = this.#clock.monotonic();
    const shown: string[] = [];
    let width = 0;
    // The last column stays free: some terminals break the line when it is written to.
    const columns = this.#console.columns - 1;
    for (const {texts, style} of this.#segments()) {
      const before = width > 0 ? width + GAP.length : 0;
      const text = texts.find(variant => before + variant.length <= columns);
      if (text === undefined) continue;
      shown.push(style === undefined ? text : styled(this.#console, style, text));
      width = before + text.length;
    }
    this.#write(`\r${shown.join(GAP)}${' '.repeat(Math.max(0, this.#width - width))}`);
    this.#width = width;
    this.#sleep(IDLE_MS);
  }

  #sleep(ms: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(ms, () => this.#draw());
  }

  /** The most important first: what does not fit is left out. */
  #segments(): readonly Segment[] {
    const {listed, finished, failed, listRead} = this.#tally;
    const rate = this.#rate();
    const {paused} = this.#queue;
    // An engine that was emptied, or lies, may list fewer than were read.
    const share = Math.min(1, finished / Math.max(1, listed));
    const width = this.#console.columns < WIDE ? BAR_WIDTH / 2 : BAR_WIDTH;
    const left = humanDuration((Math.max(0, listed - finished) / rate) * 1000);
    return [
      // Shares and times of a list that is still being read would run backwards.
      ...(listRead ? [{texts: [`${bar(share, width)} ${Math.floor(share * 100)}%`]}] : []),
      {texts: [`${groupDigits(finished)}/${groupDigits(listed)}${listRead ? '' : '+'}`], style: 'bold'},
      {texts: [`${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`]},
      ...(listRead && rate > 0 ? [{texts: [`${left} left`]}] : []),
      ...(failed > 0 ? [{texts: this.#failures(), style: 'red'} as const] : []),
      ...(paused > 0 ? [{texts: [`${paused} pausing`], style: 'yellow'} as const] : []),
    ];
  }

  /** With as many codes as fit. */
  #failures(): readonly string[] {
    const count = `${groupDigits(this.#tally.failed)} failed`;
    const codes = this.#tally.errors().map(([code, times]) => `${code} ${groupDigits(times)}`);
    const variants = [...codes.keys()].map(index => {
      const more = index + 1 < codes.length ? ', …' : '';
      return `${count}: ${codes.slice(0, index + 1).join(', ')}${more}`;
    });
    return [...variants.toReversed(), count];
  }

  /** Pages a second, of late. What earlier runs had finished is no speed of this one. */
  #rate(): number {
    const now = this.#clock.monotonic();
    const finished = this.#tally.fetched + this.#tally.failed;
    this.#samples.push({at: now, finished});
    while (this.#samples.length > 2 && now - (this.#samples[1]?.at ?? now) >= WINDOW_MS)
      this.#samples.shift();
    const [first = {at: now, finished}] = this.#samples;
    return now > first.at ? ((finished - first.finished) / (now - first.at)) * 1000 : 0;
  }

  #write(text: string): void {
    // A terminal that has gone away is no reason to end the batch.
    this.#console.out(text).catch(() => {});
  }
}

function bar(share: number, width: number): string {
  const full = Math.round(share * width);
  return '█'.repeat(full) + '░'.repeat(width - full);
}

const MOST_HOSTS = 5;

/** How a batch went, for a person, and what to do next. */
export function renderSummary(
  summary: BatchSummary,
  {out, interrupted}: {readonly out: string; readonly interrupted: boolean},
  console: Console,
): string {
  const {listed, fetched, cached, failed, failed_retryable, skipped, duplicates, left} = summary;
  const size = `${humanSize(summary.bytes)}, ${groupDigits(summary.tokens)} tokens`;
  const head = `${count(fetched, 'page')} of ${groupDigits(listed)} in ${humanDuration(summary.duration_ms)}: ${size}, in ${printable(out)}`;
  const lines = [styled(console, 'bold', head.replaceAll('\n', ' '))];
  const beside = [
    ...(cached > 0 ? [`${groupDigits(cached)} from the cache`] : []),
    ...(skipped > 0 ? [`${groupDigits(skipped)} finished by an earlier run`] : []),
    ...(duplicates > 0 ? [`${groupDigits(duplicates)} listed twice`] : []),
  ];
  if (beside.length > 0) lines.push(`  ${beside.join(', ')}`);
  if (failed > 0) {
    const codes = Object.entries(summary.errors).map(([code, times]) => `${code} ${groupDigits(times)}`);
    lines.push(`  ${styled(console, 'red', `${groupDigits(failed)} failed`)}: ${codes.join(', ')}`);
    lines.push('  manifest.jsonl says why, a line for each');
  }
  for (const {host, wait_sec} of summary.set_aside.slice(0, MOST_HOSTS)) {
    lines.push(
      `  ${styled(console, 'yellow', 'set aside')}: ${printable(host)} asks to be left alone for ${humanDuration(wait_sec * 1000)}`,
    );
  }
  const more = summary.set_aside.length - MOST_HOSTS;
  if (more > 0) lines.push(`  and ${count(more, 'further host')} like that`);
  if (left > 0 || interrupted) {
    const known = summary.list_read ? '' : ' or more';
    const what = interrupted ? 'Interrupted: ' : '';
    lines.push(`${what}${groupDigits(left)}${known} left. The same command goes on from here.`);
  } else if (failed_retryable > 0) {
    lines.push(`The same command tries ${groupDigits(failed_retryable)} of the failed ones again.`);
  }
  return `${lines.join('\n')}\n`;
}

function count(number: number, thing: string): string {
  return `${groupDigits(number)} ${thing}${number === 1 ? '' : 's'}`;
}
