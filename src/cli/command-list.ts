// Lists the commands with their summaries, in the order of the overview. A command is loaded when it is named, so
// that none pays for another.
import type {Command, CommandDefinition, CommandSummary} from './command.ts';

interface Entry {
  /** The line beside its name in the overview. */
  readonly summary: string;
  readonly load: () => Promise<CommandDefinition>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  fetch: {
    summary: 'Fetch web pages as Markdown chunks with exact token counts',
    load: async () => (await import('./commands/fetch.ts')).fetchCommand,
  },
  read: {
    summary: 'Read the parts of a web page that an answer needs, or verify a quote',
    load: async () => (await import('./commands/read.ts')).readCommand,
  },
  search: {
    summary: 'Search the web by your engines, and read the best pages',
    load: async () => (await import('./commands/search.ts')).searchCommand,
  },
  crawl: {
    summary: 'Fetch a list or a site with as many workers and machines as you like',
    load: async () => (await import('./commands/crawl.ts')).crawlCommand,
  },
  cache: {
    summary: 'Look at the page cache, and clear it up',
    load: async () => (await import('./commands/cache.ts')).cacheCommand,
  },
  call: {
    summary: 'Call a tool, or many in one session',
    load: async () => (await import('./commands/call.ts')).callCommand,
  },
  exec: {
    summary: 'Run a command in the sandbox, with its output and its exit code',
    load: async () => (await import('./commands/exec.ts')).execCommand,
  },
  hook: {
    summary: 'Decide about a call of another agent host, for its hooks',
    load: async () => (await import('./commands/hook.ts')).hookCommand,
  },
  tools: {
    summary: 'List the tools that this configuration offers to an agent',
    load: async () => (await import('./commands/tools.ts')).toolsCommand,
  },
  setup: {
    summary: 'Add the tools to an MCP client: print the entry, or write it',
    load: async () => (await import('./commands/setup.ts')).setupCommand,
  },
  mcp: {
    summary: 'Serve the tools over the Model Context Protocol',
    load: async () => (await import('./commands/mcp.ts')).mcpCommand,
  },
  config: {
    summary: 'Show the configuration in force, or write a first file',
    load: async () => (await import('./commands/config.ts')).configCommand,
  },
  doctor: {
    summary: 'Check what the tools need on this machine, and say how to get what is missing',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  policy: {
    summary: 'Show what would be decided about a call, and by which rule, without running it',
    load: async () => (await import('./commands/policy.ts')).policyCommand,
  },
  approve: {
    summary: 'Allow one call that waits for an approval; without ID, list those that wait',
    load: async () => (await import('./commands/approve.ts')).approveCommand,
  },
  events: {
    summary: 'Check that the event log of a run was not changed',
    load: async () => (await import('./commands/events.ts')).eventsCommand,
  },
  runs: {
    summary: 'List the runs that are kept, the latest first',
    load: async () => (await import('./commands/runs.ts')).runsCommand,
  },
  report: {
    summary: 'Show a run as one HTML page that needs no other file',
    load: async () => (await import('./commands/report.ts')).reportCommand,
  },
  undo: {
    summary: 'Take back what one step of a run wrote, if nothing changed it since',
    load: async () => (await import('./commands/undo.ts')).undoCommand,
  },
  'bot-key': {
    summary: 'Make the key that proves to web sites who is asking, and print the part to publish',
    load: async () => (await import('./commands/bot-key.ts')).botKeyCommand,
  },
  completions: {
    summary: 'Print the script by which a shell completes commands and flags',
    load: async () => (await import('./commands/completions.ts')).completionsCommand,
  },
  demo: {
    summary: 'Watch an agent fix a bug with recorded calls; needs no model and no internet',
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
};

/** What the overview shows, in its order. */
export const COMMAND_SUMMARIES: readonly CommandSummary[] = Object.entries(COMMANDS).map(
  ([name, {summary}]) => ({name, summary}),
);

/** `undefined` where no command has that name. */
export async function loadCommand(name: string): Promise<Command | undefined> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return entry && {name, summary: entry.summary, ...(await entry.load())};
}

/** Every command, for what is written about all of them. */
export async function loadAllCommands(): Promise<readonly Command[]> {
  const loaded = await Promise.all(COMMAND_SUMMARIES.map(({name}) => loadCommand(name)));
  return loaded.filter(command => command !== undefined);
}
