import {resolve} from 'node:path';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {EXIT} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {renderFailure} from '../render/render-failure.ts';
import {printable} from '../terminal/printable.ts';

const FLAGS = {
  workspace: {
    type: 'string',
    value: 'DIR',
    help: 'The directory that the run worked on. Default: the working directory.',
  },
  json: {type: 'boolean', help: 'Print the restored files as JSON.'},
} as const;

export const undoCommand: CommandDefinition = {
  usage: 'RUN STEP',
  flags: FLAGS,
  examples: ['forge-tools undo latest 4', 'forge-tools undo runs/1 4 --workspace ~/project'],
  async run(argv, {console, environment, services}: CommandContext) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    const [run, written, ...more] = positionals;
    if (run === undefined || written === undefined || more.length > 0) {
      throw new UsageError('undo needs a run (a directory, a name or "latest") and the number of a step.');
    }
    const step = Number(written);
    if (!/^\d{1,6}$/.test(written) || step < 1) {
      throw new UsageError(`The step is a number from 1 to 999999, as a report shows it; got "${written}".`);
    }
    const {locateRun, undoStep} = await services();
    const found = await locateRun(run, environment);
    const workspace = resolve(environment.cwd, values.workspace ?? '.');
    const undone = found.ok
      ? await undoStep({runDirectory: found.value, workspace, step}, environment)
      : found;
    if (!undone.ok) {
      console.err(renderFailure(undone.error, undefined, console));
      return EXIT.failed;
    }
    const {restored_files: files} = undone.value;
    await console.out(
      values.json
        ? `${JSON.stringify(undone.value)}\n`
        : `Step ${step} is taken back:\n${files.map(file => `  ${printable(JSON.stringify(file))}\n`).join('')}`,
    );
    return EXIT.ok;
  },
};
