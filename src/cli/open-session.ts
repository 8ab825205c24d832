import {resolve} from 'node:path';
import type {CommandContext} from './command.ts';
import {listFlag} from './parse-flags.ts';
import {readSettings} from './read-settings.ts';
import type {OpenSession} from './toolbox-services.ts';

export interface SessionFlagValues {
  readonly config: string | undefined;
  readonly 'log-level': string | undefined;
  readonly workspace?: string | undefined;
  readonly 'run-dir'?: string | undefined;
  readonly allow?: string | undefined;
}

/** The tools of a command, in their workspace. Throws `UsageError` and `ConfigError`. */
export async function openSession(flags: SessionFlagValues, context: CommandContext): Promise<OpenSession> {
  const {environment} = context;
  const allow = listFlag('allow', flags.allow);
  const {resolved, log} = await readSettings(flags, context);
  const services = await context.services();
  return services.openSession(resolved, {
    environment,
    log,
    workspace: resolve(environment.cwd, flags.workspace ?? '.'),
    runDirectory: flags['run-dir'] === undefined ? undefined : resolve(environment.cwd, flags['run-dir']),
    allow,
  });
}
