// Finds the command that was typed, runs it, and turns what it throws into a sentence and an exit code.
import {ConfigError} from '../config/config-error.ts';
import {nearestName} from '../core/text/nearest-name.ts';
import {type Command, type CommandContext, EXIT, type ExitCode} from './command.ts';
import {COMMAND_SUMMARIES, loadAllCommands, loadCommand} from './command-list.ts';
import type {Console} from './console.ts';
import {didYouMean, UsageError} from './flags.ts';
import {renderHelp, renderOverview} from './help.ts';

export interface CliRun extends Omit<CommandContext, 'commands'> {
  readonly argv: readonly string[];
}

export async function runCli(run: CliRun): Promise<ExitCode> {
  const {argv, console, version} = run;
  const [name, ...rest] = argv;
  if (name === '--version' || name === '-V') {
    await console.out(`${version}\n`);
    return EXIT.ok;
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const about = rest[0] === undefined ? undefined : await loadCommand(rest[0]);
    const width = widthOf(console);
    await console.out(about ? renderHelp(about, width) : renderOverview(COMMAND_SUMMARIES, width));
    if (rest[0] !== undefined && about === undefined) {
      console.err(`${unknownCommand(rest[0])}\n`);
      return EXIT.usage;
    }
    return name === undefined ? EXIT.usage : EXIT.ok;
  }
  const command = await loadCommand(name);
  try {
    if (!command) throw new UsageError(unknownCommand(name));
    if (asksForHelp(rest)) {
      await console.out(renderHelp(command, widthOf(console)));
      return EXIT.ok;
    }
    return await command.run(rest, {...run, commands: loadAllCommands});
  } catch (error) {
    return explain(error, command, console);
  }
}

/** A program that reads help, such as `grep`, gets its lines whole. */
function widthOf({interactive, columns}: Console): number {
  return interactive ? Math.min(columns, 100) : Number.POSITIVE_INFINITY;
}

function unknownCommand(name: string): string {
  if (name.startsWith('-')) {
    const flag = name === '-v' ? '--version' : nearestName(name.replace(/^-+/, ''), ['help', 'version']);
    const hint = flag === undefined ? '' : ` Did you mean "--${flag.replace(/^-+/, '')}"?`;
    return `There is no flag ${name} in front of a command.${hint}`;
  }
  const names = COMMAND_SUMMARIES.map(command => command.name);
  return `There is no command "${name}".${didYouMean(name, names)}`;
}

/** `--help` counts up to a `--`, behind which everything is an argument. */
function asksForHelp(rest: readonly string[]): boolean {
  const end = rest.indexOf('--');
  return rest.slice(0, end === -1 ? undefined : end).some(arg => arg === '--help' || arg === '-h');
}

function explain(error: unknown, command: Command | undefined, console: Console): ExitCode {
  if (error instanceof UsageError) {
    const help = command ? `forge-tools ${command.name} --help` : 'forge-tools --help';
    console.err(`${error.message} Try: ${help}\n`);
    return EXIT.usage;
  }
  if (error instanceof ConfigError) {
    console.err(`${error.message}\n`);
    return EXIT.config;
  }
  throw error;
}
