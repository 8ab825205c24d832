// Lists the tools that run commands and look at what they wrote.
import type {Clock} from '../../core/clock.ts';
import type {Tool} from '../../core/tool.ts';
import type {RunOptions} from '../../sandbox/options.ts';
import type {Sandbox} from '../../sandbox/sandbox.ts';
import type {WorkspaceSession} from '../files/session.ts';
import type {BackgroundCommands} from './background.ts';
import {readOutputTool} from './read-output.ts';
import {runTool} from './run.ts';
import {stopRunTool} from './stop-run.ts';
import {waitForTool} from './wait-for-command.ts';

export interface RunParts {
  readonly workspace: WorkspaceSession;
  readonly background: BackgroundCommands;
  readonly clock: Clock;
  /** Whether `run` has the parameter. Default: true. */
  readonly offersBackground?: boolean;
}

export function runTools(
  sandbox: Sandbox,
  options: RunOptions,
  {workspace, background, clock, offersBackground = true}: RunParts,
): readonly Tool[] {
  return [
    runTool(sandbox, options, workspace.workspace, offersBackground ? background : undefined),
    readOutputTool(workspace, background),
    waitForTool(background, clock),
    stopRunTool(background),
  ];
}
