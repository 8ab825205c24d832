import {mkdir, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {ConfigError} from '../../config/config-error.ts';
import {configPath} from '../../config/config-path.ts';
import {resolveConfig} from '../../config/resolve/resolve-config.ts';
import {errorReason} from '../../system/error-code.ts';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {TOOLBOX_FLAGS} from '../flags/toolbox-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {printWarnings} from '../print-warnings.ts';
import {readSettings} from '../read-settings.ts';
import {renderConfig} from '../render/render-config.ts';
import {starterConfig} from '../setup/starter-config.ts';
import {printable} from '../terminal/printable.ts';

const FLAGS = {
  show: {
    type: 'boolean',
    help: 'Print the settings in force as TOML, marking what is not a default. The default.',
  },
  init: {type: 'boolean', help: 'Write a file that explains every setting, where there is none.'},
  config: TOOLBOX_FLAGS.config,
} as const;

export const configCommand: CommandDefinition = {
  usage: '[--show | --init]',
  flags: FLAGS,
  examples: [
    'forge-tools config --init',
    'forge-tools config',
    'forge-tools config --init --config ./forge.toml',
  ],
  async run(argv, context) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    if (positionals.length > 0) throw new UsageError('config takes no arguments.');
    if (values.show && values.init) throw new UsageError('Use --show or --init, not both.');
    return values.init ? init(values.config, context) : show(values.config, context);
  },
};

async function show(file: string | undefined, context: CommandContext): Promise<ExitCode> {
  const {console, environment} = context;
  const {resolved} = await readSettings({config: file}, context);
  const defaults = resolveConfig(undefined, environment);
  if (!defaults.ok) throw new ConfigError(defaults.error);
  const expected = configPath(file, environment)?.file;
  const source =
    resolved.source ?? (expected === undefined ? 'defaults' : `defaults, as there is no ${expected}`);
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
