import {ConfigError} from '../config/config-error.ts';
import {nearestName} from '../core/text/nearest-name.ts';
import type {Command, CommandContext} from './command.ts';
import type {Console} from './console.ts';
import {EXIT, type ExitCode} from './exit-codes.ts';
import {UsageError} from './flags/usage-error.ts';
import {renderHelp, renderOverview} from './help.ts';
import {forOperator} from './terminal/for-operator.ts';

export interface CliRun extends Omit<CommandContext, 'commands'> {
  readonly argv: readonly string[];
}

/** Loaded when a command is named: no command pays for another. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  fetch: async () => (await import('./commands/fetch.ts')).fetchCommand,
  read: async () => (await import('./commands/read.ts')).readCommand,
  cache: async () => (await import('./commands/cache.ts')).cacheCommand,
  call: async () => (await import('./commands/call.ts')).callCommand,
  tools: async () => (await import('./commands/tools.ts')).toolsCommand,
  setup: async () => (await import('./commands/setup.ts')).setupCommand,
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand,
  config: async () => (await import('./commands/config.ts')).configCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  policy: async () => (await import('./commands/policy.ts')).policyCommand,
  approve: async () => (await import('./commands/approve.ts')).approveCommand,
  events: async () => (await import('./commands/events.ts')).eventsCommand,
  runs: async () => (await import('./commands/runs.ts')).runsCommand,
  report: async () => (await import('./commands/report.ts')).reportCommand,
  undo: async () => (await import('./commands/undo.ts')).undoCommand,
  completions: async () => (await import('./commands/completions.ts')).completionsCommand,
  demo: async () => (await import('./commands/demo.ts')).demoCommand,
};

/** Finds the command, runs it, and turns what it throws into a sentence and an exit code. */
export async function runCli(run: CliRun): Promise<ExitCode> {
  const {argv, console, version} = run;
  const [name, ...rest] = argv;
  if (name === '--version' || name === '-V') {
    await console.out(`${version}\n`);
    return EXIT.ok;
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const about = await loadCommand(rest[0]);
    const width = widthOf(console);
    await console.out(about ? renderHelp(about, width) : renderOverview(await loadAll(), width));
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
    return await command.run(rest, {...run, commands: loadAll});
  } catch (error) {
    return explain(error, command, console);
  }
}

async function loadCommand(name: string | undefined): Promise<Command | undefined> {
  return name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name]?.() : undefined;
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
  const nearest = nearestName(name, Object.keys(COMMANDS));
  return `There is no command "${name}".${nearest === undefined ? '' : ` Did you mean "${nearest}"?`}`;
}

function loadAll(): Promise<readonly Command[]> {
  return Promise.all(Object.values(COMMANDS).map(load => load()));
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
    console.err(`${forOperator(error.message)}\n`);
    return EXIT.config;
  }
  throw error;
}
