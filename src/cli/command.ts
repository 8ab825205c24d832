// Says what a command is: the arguments it takes, its flags, and a function that answers a value or a failure.
// `defineCommand` parses what was typed and prints the answer.
import type {Environment} from '../config/environment.ts';
import type {Failure} from '../core/result.ts';
import type {Console} from './console.ts';
import {type Flags, parseFlags, UsageError, type ValuesOf} from './flags.ts';
import {renderFailure} from './print-result.ts';
import type {ToolboxServices} from './toolbox-services.ts';

/** What a command runs with. */
export interface CommandContext {
  readonly console: Console;
  readonly environment: Environment;
  /** Fires on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Of the package. */
  readonly version: string;
  /** Loaded when asked for: help and usage errors pay for none of it. */
  readonly services: () => Promise<ToolboxServices>;
  /** Every command there is, for what is written about all of them. */
  readonly commands: () => Promise<readonly Command[]>;
  /** How this program was started: an interpreter and a script, or one program. Absolute paths. */
  readonly program: readonly [string, ...string[]];
}

export interface CommandSummary {
  readonly name: string;
  readonly summary: string;
}

/** What a command takes and does: help is printed from this, so it cannot drift from what is parsed. */
export interface CommandDefinition {
  /** Behind the name: `URL [URL ...] [flags]`. */
  readonly usage: string;
  /** What its first argument may be, where it is one of some words. */
  readonly verbs?: readonly string[];
  readonly flags: Flags;
  readonly examples: readonly string[];
  readonly run: (argv: readonly string[], context: CommandContext) => Promise<ExitCode>;
}

/** What is printed: `json` with `--json`, an array an entry a line, else `text`. `note` goes to standard error. */
interface Printed {
  readonly json?: unknown;
  readonly text: string;
  readonly note?: string;
  readonly code?: ExitCode;
}

/** What a command answers with. One that prints while it works answers with a code alone. */
export type Answer = Printed | ExitCode | {readonly ok: false; readonly error: Failure};

/** What was typed, and what a command runs with. */
export interface CommandCall<F extends Flags> extends CommandContext {
  readonly values: ValuesOf<F>;
  readonly args: readonly string[];
}

interface Declaration<F extends Flags> extends Omit<CommandDefinition, 'run'> {
  readonly flags: F;
  /** Whether it takes these arguments, and the sentence where it does not. Default: it looks itself. */
  readonly takes?: readonly [
    fits: (args: readonly string[]) => boolean,
    otherwise: string | ((args: readonly string[]) => string),
  ];
  /** Ctrl-C decides the exit code, whatever was answered. */
  readonly interruptible?: true;
  readonly run: (call: CommandCall<F>) => Promise<Answer>;
}

/** Parses flags, refuses wrong arguments, and prints the answer. */
export function defineCommand<const F extends Flags>({
  takes: [fits, otherwise] = [() => true, ''],
  interruptible,
  run,
  ...definition
}: Declaration<F>): CommandDefinition {
  return {
    ...definition,
    async run(argv, context) {
      const {values, positionals: args} = parseFlags(argv, definition.flags);
      if (!fits(args)) throw new UsageError(typeof otherwise === 'string' ? otherwise : otherwise(args));
      const answer = await run({...context, values, args});
      const code = await print(answer, 'json' in values && values['json'] === true, context.console);
      return interruptible && context.signal.aborted ? EXIT.interrupted : code;
    },
  };
}

async function print(answer: Answer, asJson: boolean, console: Console): Promise<ExitCode> {
  if (typeof answer === 'number') return answer;
  if ('ok' in answer) {
    console.err(renderFailure(answer.error, undefined, console));
    return EXIT.failed;
  }
  const {json, text, note = '', code = EXIT.ok} = answer;
  const lines: readonly unknown[] = Array.isArray(json) ? json : [json];
  await console.out(asJson ? lines.map(line => `${JSON.stringify(line)}\n`).join('') : text);
  if (note !== '') console.err(note);
  return code;
}

/** A definition under its name (`command-list.ts`). */
export interface Command extends CommandSummary, CommandDefinition {}

/** What the process says to a shell. Documented in docs/cli.md. */
export const EXIT = {
  ok: 0,
  /** A call (one of several) failed, or a check found something; the output says what. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The configuration cannot be used. */
  config: 3,
  /** `fetch` printed a page of which a part is missing; standard error says which and how to get it. */
  cut: 4,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const;

/** One of `EXIT`, or of `exec`, that of the command which ran. */
export type ExitCode = number;
