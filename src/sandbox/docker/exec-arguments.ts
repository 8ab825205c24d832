import {WORKSPACE_MOUNT} from '../../core/workspace-mount.ts';
import {relayCommand} from '../egress/relay-script.ts';
import type {SandboxCommand} from '../sandbox.ts';
import {START} from './docker-scripts.ts';
import type {DockerSetup} from './docker-setup.ts';

/** Of the client, for a command in a container that runs. */
export function execArguments(
  container: string,
  {user, relay}: DockerSetup,
  command: SandboxCommand,
): string[] {
  const assignments = Object.entries(command.env).map(([name, value]) => `${name}=${value}`);
  return [
    ...['exec', '--interactive', '--user', user],
    ...(command.directory === undefined ? [] : ['--workdir', `${WORKSPACE_MOUNT}/${command.directory}`]),
    ...[container, '/bin/sh', '-c', START, 'sh', relay === undefined ? '' : relayCommand(relay.program)],
    // Set for the command only, behind everything of ours.
    ...(assignments.length === 0 ? [] : ['env', ...assignments]),
    ...['/bin/sh', '-c', command.command],
  ];
}
