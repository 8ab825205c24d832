// `config`: prints the settings in force as TOML, or writes a first file.
import {mkdir, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {ConfigError} from '../../config/config-error.ts';
import type {Config} from '../../config/config-schema.ts';
import {configPath} from '../../config/environment.ts';
import {isTable} from '../../config/raw-values.ts';
import {toToml} from '../../config/render-reference.ts';
import {resolveConfig} from '../../config/resolve-config.ts';
import type {Json} from '../../core/result.ts';
import {errorReason} from '../../system/errors.ts';
import {starterConfig} from '../client-settings.ts';
import {type CommandContext, defineCommand, EXIT, type ExitCode} from '../command.ts';
import {printable} from '../console.ts';
import {UsageError} from '../flags.ts';
import {printWarnings, readSettings} from '../read-settings.ts';
import {TOOLBOX_FLAGS} from '../session-flags.ts';

export const configCommand = defineCommand({
  usage: '[--show | --init]',
  takes: [args => args.length === 0, 'config takes no arguments.'],
  flags: {
    show: {
      type: 'boolean',
      help: 'Print the settings in force as TOML, marking what is not a default. The default.',
    },
    init: {type: 'boolean', help: 'Write a file that explains every setting, where there is none.'},
    config: TOOLBOX_FLAGS.config,
  },
  examples: [
    'forge-tools config --init',
    'forge-tools config',
    'forge-tools config --init --config ./forge.toml',
  ],
  async run({values, ...context}) {
    if (values.show && values.init) throw new UsageError('Use --show or --init, not both.');
    return values.init ? init(values.config, context) : show(values.config, context);
  },
});

async function show(file: string | undefined, context: CommandContext): Promise<ExitCode> {
  const {console, environment} = context;
  const {resolved} = await readSettings({config: file}, context);
  const defaults = resolveConfig(undefined, environment);
  if (!defaults.ok) throw new ConfigError(defaults.error);
  const {configFile} = resolved;
  const source =
    resolved.source ?? (configFile === undefined ? 'defaults' : `defaults, as there is no ${configFile}`);
  const text = `# From ${JSON.stringify(source)}.\n\n${renderConfig(resolved.config, defaults.value.config)}`;
  await console.out(console.interactive ? printable(text) : text);
  printWarnings(resolved, console);
  return EXIT.ok;
}

/** Never replaces a file: what the user wrote is worth more than what we would. */
async function init(written: string | undefined, {console, environment}: CommandContext): Promise<ExitCode> {
  const path = configPath(written, environment)?.file;
  if (path === undefined) throw new UsageError('There is no home directory. Name a file with --config.');
  const shown = JSON.stringify(path);
  try {
    await mkdir(dirname(path), {recursive: true, mode: 0o700});
    await writeFile(path, starterConfig(), {flag: 'wx', mode: 0o600});
  } catch (error) {
    const code = errorReason(error);
    console.err(
      code === 'EEXIST'
        ? `${shown} is there already and was left as it is. Edit it, or name another file with --config.\n`
        : `${shown} cannot be written (${code}). Name another file with --config.\n`,
    );
    return EXIT.failed;
  }
  await console.out(`Wrote ${shown}. Look at \`forge-tools tools\` and \`forge-tools doctor\` next.\n`);
  return EXIT.ok;
}

type Table = {readonly [key: string]: Json};
const isJsonTable = (value: Json): value is Table => isTable(value);

/** The settings in force as TOML that could be a configuration file; what is not a default is marked. */
export function renderConfig(config: Config, defaults: Config): string {
  return renderTable('', config, defaults).join('\n');
}

function renderTable(name: string, table: Table, defaults: Table): readonly string[] {
  const settings: string[] = [];
  const below: string[] = [];
  for (const [key, value] of Object.entries(table)) {
    const standard = defaults[key] ?? null;
    // A table of the schema; one that an operator filled has other keys than its default.
    if (isJsonTable(value) && isJsonTable(standard) && Object.keys(standard).length > 0) {
      below.push(...renderTable(name === '' ? key : `${name}.${key}`, value, standard));
    } else {
      const mark = JSON.stringify(value) === JSON.stringify(standard) ? '' : '  # set';
      settings.push(`${key} = ${toToml(value)}${mark}`);
    }
  }
  return [
    ...(settings.length === 0 ? [] : [...(name === '' ? [] : [`[${name}]`]), ...settings, '']),
    ...below,
  ];
}
