import {resolve} from 'node:path';
import {nearestName} from '../../core/text/nearest-name.ts';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {styled} from '../console.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {PROFILE_FLAG} from '../flags/session-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {CLIENT_ENTRIES, CLIENTS, type Client, type ClientEntry} from '../setup/clients.data.ts';
import {mergeSettings} from '../setup/merge-settings.ts';
import {requireProject} from '../setup/require-project.ts';
import {settingsFile} from '../setup/settings-file.ts';
import {shellWords, windowsShellWords} from '../setup/shell-words.ts';
import {npxLauncher, thisLauncher} from '../setup/start-command.ts';
import {readSettingsFile, writeSettings} from '../setup/write-settings.ts';
import {printable} from '../terminal/printable.ts';

const FLAGS = {
  write: {type: 'boolean', help: 'Write the entry into the settings of the client, and show what changes.'},
  project: {
    type: 'boolean',
    help: 'Into the file of this project, which others may share, instead of that of the user.',
  },
  workspace: {
    type: 'string',
    value: 'DIR',
    help: 'The directory that the tools see. Default: the project of the client, or the working directory where the client says none.',
  },
  profile: PROFILE_FLAG,
  here: {
    type: 'boolean',
    help: 'Start this installation by its path, such as a checkout, instead of a pinned version by npx.',
  },
} as const;

type Values = ReturnType<typeof parseFlags<typeof FLAGS>>['values'];

export const setupCommand: CommandDefinition = {
  usage: 'CLIENT [--write]',
  flags: FLAGS,
  examples: [
    'forge-tools setup claude-code',
    'forge-tools setup cursor --write',
    'forge-tools setup claude-desktop --write --workspace ~/project',
  ],
  async run(argv, context) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    const [written, ...more] = positionals;
    if (written === undefined || more.length > 0) {
      throw new UsageError(`setup takes one client: ${CLIENTS.join(', ')}.`);
    }
    return setUp(clientOf(written), values, context);
  },
};

function clientOf(written: string): Client {
  const client = CLIENTS.find(known => known === written);
  if (client !== undefined) return client;
  const nearest = nearestName(written, CLIENTS) ?? CLIENTS.find(known => known.startsWith(written));
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  throw new UsageError(`setup knows ${CLIENTS.join(', ')}, not "${written}".${hint}`);
}

async function setUp(client: Client, values: Values, context: CommandContext): Promise<ExitCode> {
  const {console, environment} = context;
  const entry: ClientEntry = CLIENT_ENTRIES[client];
  const scope = values.project || entry.user === undefined ? 'project' : 'user';
  const file = settingsFile(client, scope, environment, process.platform);
  if (file === undefined)
    throw new UsageError(`${entry.title} has no settings for one project. Leave out --project.`);
  const start = startOf(entry, values, context);
  const shown = printable(JSON.stringify(file));
  const entryAlone = mergeSettings(client, '', start);
  if (!entryAlone.ok) throw new Error(entryAlone.error);

  if (!values.write) {
    await console.out(entryAlone.value);
    const words = entry.command?.(start);
    const inShell = process.platform === 'win32' ? windowsShellWords : shellWords;
    const command = words && inShell(words);
    const byCommand = command === undefined ? '' : `Or run: ${printable(command)}\n`;
    console.err(`This goes into ${shown}; --write puts it there.\n${byCommand}`);
    return EXIT.ok;
  }
  const before = await readSettingsFile(file, scope === 'project');
  const after = before.ok ? mergeSettings(client, before.value ?? '', start) : before;
  if (!before.ok || !after.ok) {
    const problem = before.ok ? (after.ok ? '' : after.error) : before.error;
    console.err(`${shown} ${problem}. It was left as it is; add this by hand:\n${entryAlone.value}`);
    return EXIT.failed;
  }
  if (after.value === before.value) {
    await console.out(`${shown} has the entry already. ${entry.next}\n`);
    return EXIT.ok;
  }
  const {renderDiff} = await context.services();
  await console.out(printable(renderDiff(before.value, after.value, file)));
  const project = scope === 'project' ? environment.cwd : undefined;
  const wrote = await writeSettings({file, before: before.value, after: after.value, project});
  if (!wrote.ok) {
    console.err(`${shown} ${wrote.error}. Nothing was changed.\n`);
    return EXIT.failed;
  }
  await console.out(`${styled(console, 'green', 'Written.')} ${entry.next}\n`);
  if (values.profile === undefined) {
    console.err(
      `${entry.title} may ask before each call by itself. To be asked once, add --profile trusted to this command.\n`,
    );
  }
  return EXIT.ok;
}

/** What the client runs. */
function startOf(
  {workspace, showsStructure}: ClientEntry,
  values: Values,
  {environment, program, version}: CommandContext,
): readonly [string, ...string[]] {
  const {cwd} = environment;
  if (workspace === 'named' && values.workspace === undefined) requireProject(environment);
  const launcher = {program, version, platform: process.platform};
  const [command, ...args] = values.here ? thisLauncher(launcher) : npxLauncher(launcher);
  const inClient = workspace === 'named' ? cwd : workspace;
  const directory = values.workspace === undefined ? inClient : resolve(cwd, values.workspace);
  return [
    command,
    ...args,
    'mcp',
    ...(directory === 'started-there' ? [] : ['--workspace', directory]),
    ...(values.profile === undefined ? [] : ['--profile', values.profile]),
    ...(showsStructure ? ['--results', 'text'] : []),
  ];
}
