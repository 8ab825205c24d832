import {inheritedEnv} from './child/inherited-env.ts';
import type {RunOptions} from './options.ts';
import type {SandboxHost} from './sandbox.ts';

/**
 * What every command finds in its environment in a sandbox: who commits, and that npm gives up at once where there is
 * no network instead of trying for more than a minute. What the configuration lists, and the call, is stronger.
 */
export function sandboxEnv(
  options: RunOptions,
  {env}: SandboxHost,
  identity: Readonly<Record<string, string>>,
): Record<string, string> {
  return {npm_config_fetch_retries: '0', ...identity, ...inheritedEnv(options, env)};
}
