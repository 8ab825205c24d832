import type {LoadedConfig} from '../../config/load-config.ts';
import type {Toolbox} from '../../create-toolbox.ts';

export interface Start {
  readonly toolbox: Pick<Toolbox, 'listTools'>;
  readonly resolved: Pick<LoadedConfig, 'config' | 'source'>;
  /** `undefined` where no directory is opened; `named` is false where it is the working directory. */
  readonly workspace: string | undefined;
  readonly workingDirectory: string;
  /** Where the run is kept, or the directory of all runs. */
  readonly runs: string;
}

/** Ruling H7: what is on, who decides about calls with side effects, and where the run is kept. One line. */
export function describeStart({toolbox, resolved, workspace, workingDirectory, runs}: Start): string {
  const {config, source} = resolved;
  const {profile} = config;
  const names = toolbox.listTools().length;
  const tools = names === 1 ? '1 tool' : `${names} tools`;
  const where =
    workspace === undefined
      ? `without files, as ${workingDirectory} is no project (name one with --workspace DIR)`
      : `for ${workspace}`;
  const from = source === undefined ? 'no configuration file' : source;
  const by = profile === 'none' ? from : `profile "${profile}", ${from}`;
  return `forge-tools: ${tools} ${where}; ${by}; ${approvals(config.tools)}; runs are kept in ${runs}.`;
}

function approvals({access, approval, mode}: LoadedConfig['config']['tools']): string {
  if (mode !== 'enabled') return `tools.mode is "${mode}"`;
  const calls = access === 'read-only' ? 'fetches' : 'calls with side effects';
  switch (approval.mode) {
    case 'prompt':
      return `${calls} are asked about, and refused where there is no one to ask`;
    case 'auto':
      return `${calls} run without asking, but for what is denied`;
    case 'deny':
      return `${calls} are refused`;
  }
}
