import type {Environment} from '../config/environment.ts';
import type {Console} from './console.ts';
import type {ExitCode} from './exit-codes.ts';
import type {Flags} from './flags/parse-flags.ts';
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

/** A definition under its name (`command-list.ts`). */
export interface Command extends CommandSummary, CommandDefinition {}
