// The streams of a command, its styles and its log lines. Whatever reaches a terminal loses here what the terminal
// would act on.
import {createInterface} from 'node:readline';
import type {Readable, Writable} from 'node:stream';
import {systemClock, timestamp} from '../core/clock.ts';
import type {Log, LogLevel} from '../core/log.ts';
import {stripInvisible} from '../core/text/invisible.ts';

/** The streams of one command. Tests hand in their own; `main.ts` hands in the process's. */
export interface Console {
  /** Writes as it is: JSON and piped Markdown. Resolves when the reader has taken it. */
  readonly out: (text: string) => Promise<void>;
  readonly err: (text: string) => void;
  /** The streams themselves, for commands that speak a protocol on them. */
  readonly input: Readable;
  readonly output: Writable;
  /** Asks a person for a line; `undefined` where that person hangs up. No function where no one can be asked. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Stdout is a terminal: decorate, and strip control sequences. */
  readonly interactive: boolean;
  /** Stderr is a terminal: sentences for a person instead of JSON lines. */
  readonly errInteractive: boolean;
  readonly color: boolean;
  readonly columns: number;
  /** Of the terminal; undefined where that is not known, or where stdout is none. */
  readonly rows?: number | undefined;
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** Styles text that was made printable first. */
export function styled(console: Console, style: Style, text: string): string {
  const clean = printable(text);
  const [on, off] = CODES[style];
  return console.color ? `\u001b[${on}m${clean}\u001b[${off}m` : clean;
}

/** The process's own streams. `FORCE_COLOR` asks for colour; `NO_COLOR` (any value) and dumb terminals get none. */
export function processConsole(env: Readonly<Record<string, string | undefined>>): Console {
  const {stdout, stderr} = process;
  const interactive = stdout.isTTY === true;
  const errInteractive = stderr.isTTY === true;
  return {
    out: text =>
      new Promise((resolve, reject) => {
        stdout.write(interactive ? forTerminal(text) : text, error => (error ? reject(error) : resolve()));
      }),
    err: text => {
      stderr.write(errInteractive ? forTerminal(text) : text);
    },
    // Opened when looked at: a command that reads nothing leaves standard input alone.
    get input() {
      return process.stdin;
    },
    output: stdout,
    get ask() {
      return errInteractive && process.stdin.isTTY === true ? askOnTerminal : undefined;
    },
    interactive,
    errInteractive,
    color: isForced(env['FORCE_COLOR']) || (interactive && !env['NO_COLOR'] && env['TERM'] !== 'dumb'),
    // Questions are on standard error. A pseudo-terminal that nobody has sized has no columns. Asked for each
    // time: windows change their size.
    get columns() {
      return stdout.columns || stderr.columns || 80;
    },
    get rows() {
      return stdout.rows || undefined;
    },
  };
}

function isForced(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}

function askOnTerminal(question: string, signal: AbortSignal): Promise<string | undefined> {
  // The terminal edits the line and turns Ctrl-C into a signal; raw mode would swallow that.
  const lines = createInterface({input: process.stdin, output: process.stderr, terminal: false});
  return new Promise(resolve => {
    const settle = (answer?: string): void => {
      signal.removeEventListener('abort', hangUp);
      // First, as closing calls back here without an answer.
      resolve(answer);
      lines.close();
    };
    let isAsked = false;
    // What is said next begins on a line of its own, and not behind the question.
    const hangUp = (): void => {
      if (isAsked) process.stderr.write('\n');
      isAsked = false;
      settle();
    };
    lines.once('line', line => {
      isAsked = false;
      settle(line);
    });
    lines.once('close', hangUp);
    if (signal.aborted) return hangUp();
    signal.addEventListener('abort', hangUp, {once: true});
    process.stderr.write(forTerminal(question));
    isAsked = true;
  });
}

/** The colours of `styled`, and the carriage return of the progress line. */
const OWN = /(\u001b\[(?:1|2|22|31|32|33|36|39)m|\r)/;

/**
 * Ruling D12, the last gateway: whatever is written to a terminal passes here, made printable before or not
 * (a JSON line, a log line). Of what a terminal acts on, only our own gets through.
 */
export function forTerminal(text: string): string {
  return text
    .split(OWN)
    .map((part, at) => (at % 2 === 1 ? part : stripInvisible(part)))
    .join('');
}

/** Ruling D12: what a page, a server or a file said reaches a terminal without what the terminal would act on. */
export function printable(text: string): string {
  return stripInvisible(text);
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export const LOG_LEVELS: readonly (LogLevel | 'silent')[] = [...ORDER, 'silent'];

/** FR-WF-19c: one JSON object a line. */
export function jsonLog(write: (line: string) => void, least: LogLevel | 'silent'): Log {
  if (least === 'silent') return () => {};
  return event => {
    if (ORDER.indexOf(event.level) < ORDER.indexOf(least)) return;
    write(`${JSON.stringify({time: timestamp(systemClock.now()), ...event})}\n`);
  };
}
