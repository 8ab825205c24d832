import {inheritedEnv} from './child/inherited-env.ts';
import {egressEnv} from './egress/egress-env.ts';
import type {RunOptions} from './options.ts';
import type {SandboxHost} from './sandbox.ts';

/**
 * What every command finds in its environment in a sandbox: who commits, the way out where there is one, and where
 * there is none, that npm gives up at once instead of trying for more than a minute. What the configuration lists, and the call, is stronger.
 */
export function sandboxEnv(
  options: RunOptions,
  {env, egress}: SandboxHost,
  identity: Readonly<Record<string, string>>,
): Record<string, string> {
  const network = egress === undefined ? {npm_config_fetch_retries: '0'} : egressEnv(egress);
  return {...network, ...identity, ...inheritedEnv(options, env)};
}
