import {fail} from '../../../core/failure/fail.ts';
import {ok, type Result} from '../../../core/result.ts';
import type {BackgroundCommand} from './background-command.ts';
import type {BackgroundCommands} from './background-commands.ts';

/** The command that a step names, or the one that is meant where none is named. */
export function nameCommand(
  step: number | undefined,
  background: BackgroundCommands,
): Result<BackgroundCommand> {
  const {running, last} = background;
  const steps = running.map(command => command.step).join(', ');
  const found = step === undefined ? (running.length > 1 ? undefined : last) : background.find(step);
  if (found !== undefined) return ok(found);
  const which = running.length === 0 ? 'None runs now.' : `Those that run are ${steps}.`;
  const reason =
    step === undefined
      ? running.length > 1
        ? `Several commands run in the background: name one with step. ${which}`
        : 'No command was started in the background.'
      : `Step ${step} is no command in the background of this session. ${which}`;
  return fail('invalid_params', reason, {field: 'step', reason});
}
