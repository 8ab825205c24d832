// `setup`: prints the entry that adds the tools to an MCP client, or writes it into the settings of the client.
import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import {nearestName} from '../../core/text/nearest-name.ts';
import {
  launcherOf,
  mergeSettings,
  readSettingsFile,
  requireProject,
  settingsFile,
  shellWords,
  windowsShellWords,
  writeSettings,
} from '../client-settings.ts';
import {CLIENT_ENTRIES, CLIENTS, type Client, type ClientEntry} from '../clients.data.ts';
import {type CommandContext, defineCommand, EXIT, type ExitCode} from '../command.ts';
import {printable, styled} from '../console.ts';
import {UsageError, type ValuesOf} from '../flags.ts';
import {PROFILE_FLAG, SESSION_FLAGS, TOOLBOX_FLAGS} from '../session-flags.ts';

// biome-ignore format: a flag is a line
const FLAGS = {
  write: {type: 'boolean', help: 'Write the entry into the settings of the client, and show what changes.'},
  project: {type: 'boolean', help: 'Into the file of this project, which others may share, instead of that of the user.'},
  workspace: {type: 'string', value: 'DIR', help: 'The directory that the tools see. Default: the project of the client, or the working directory where the client says none.'},
  profile: PROFILE_FLAG,
  config: TOOLBOX_FLAGS.config,
  allow: SESSION_FLAGS.allow,
  groups: SESSION_FLAGS.groups,
} as const;

type Values = ValuesOf<typeof FLAGS>;

export const setupCommand = defineCommand({
  usage: 'CLIENT [--write]',
  takes: [args => args.length === 1, `setup takes one client: ${CLIENTS.join(', ')}.`],
  flags: FLAGS,
  examples: [
    'forge-tools setup claude-code',
    'forge-tools setup cursor --write',
    'forge-tools setup claude-desktop --write --workspace ~/project',
  ],
  run: ({values, args: [written = ''], ...context}) => setUp(clientOf(written), values, context),
});

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
  const start = await startOf(entry, values, context);
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
  const {renderDiff, tryEntry} = await context.services();
  await console.out(printable(renderDiff(before.value, after.value, file)));
  const here: readonly [string, ...string[]] = [
    start[0],
    ...start.slice(1).map(word => (word === entry.workspace ? environment.cwd : word)),
  ];
  const started = await tryEntry({command: here, cwd: environment.cwd, env: environment.env}, context.signal);
  if (!started.ok || started.value === 0) {
    const problem = started.ok ? 'it offers no tool' : started.error;
    console.err(
      `The entry does not work: ${printable(problem)}. Nothing was written. See "forge-tools doctor".\n`,
    );
    return EXIT.failed;
  }
  const project = scope === 'project' ? environment.cwd : undefined;
  const wrote = await writeSettings({file, before: before.value, after: after.value, project});
  if (!wrote.ok) {
    console.err(`${shown} ${wrote.error}. Nothing was changed.\n`);
    return EXIT.failed;
  }
  await console.out(
    `${styled(console, 'green', 'Written.')} It was started once: ${started.value === 1 ? '1 tool' : `${started.value} tools`}. ${entry.next}\n`,
  );
  if (values.profile === undefined) {
    console.err(
      `${entry.title} may ask before each call by itself. To be asked once, add --profile trusted to this command.\n`,
    );
  }
  return EXIT.ok;
}

/** What the client runs. */
async function startOf(
  {workspace}: ClientEntry,
  values: Values,
  {environment, program, version}: CommandContext,
): Promise<readonly [string, ...string[]]> {
  const {cwd} = environment;
  if (workspace === 'named' && values.workspace === undefined) requireProject(environment);
  const [command, ...args] = launcherOf({program, version, platform: process.platform});
  const inClient = workspace === 'named' ? cwd : workspace;
  const directory = values.workspace === undefined ? inClient : resolve(cwd, values.workspace);
  if (values.workspace !== undefined) await requireDirectory(directory);
  const given = (['profile', 'config', 'allow', 'groups'] as const).flatMap(name => {
    const value = values[name];
    if (value === undefined) return [];
    return [`--${name}`, name === 'config' ? resolve(cwd, value) : value];
  });
  return [
    command,
    ...args,
    'mcp',
    ...(directory === 'started-there' ? [] : ['--workspace', directory]),
    ...given,
  ];
}

async function requireDirectory(path: string): Promise<void> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory()) return;
  const problem = info === undefined ? 'does not exist' : 'is not a directory';
  throw new UsageError(
    `${JSON.stringify(path)} ${problem}. Name the directory that the tools see with --workspace DIR.`,
  );
}
