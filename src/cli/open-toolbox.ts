import {assembleToolbox, type Toolbox} from '../create-toolbox.ts';
import type {CommandContext} from './command.ts';
import {readSettings} from './read-settings.ts';

/** The toolbox of a command: configuration from the files, log lines to stderr. */
export async function openToolbox(
  flags: {readonly config: string | undefined; readonly 'log-level': string | undefined},
  context: CommandContext,
): Promise<Toolbox> {
  const {resolved, log} = await readSettings(flags, context);
  return assembleToolbox(resolved, {environment: context.environment, log});
}
