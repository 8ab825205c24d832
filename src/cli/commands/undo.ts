// `undo`: takes back what one step of a run wrote.
import {resolve} from 'node:path';
import {defineCommand} from '../command.ts';
import {printable} from '../console.ts';
import {UsageError} from '../flags.ts';

export const undoCommand = defineCommand({
  usage: 'RUN STEP',
  takes: [
    args => args.length === 2,
    'undo needs a run (a directory, a name or "latest") and the number of a step.',
  ],
  // biome-ignore format: a flag is a line
  flags: {
    workspace: {type: 'string', value: 'DIR', help: 'The directory that the run worked on. Default: the working directory.'},
    json: {type: 'boolean', help: 'Print the restored files as JSON.'},
  },
  examples: ['forge-tools undo latest 4', 'forge-tools undo runs/1 4 --workspace ~/project'],
  async run({values, args: [run = '', written = ''], environment, services}) {
    const step = Number(written);
    if (!/^\d{1,6}$/.test(written) || step < 1) {
      throw new UsageError(`The step is a number from 1 to 999999, as a report shows it; got "${written}".`);
    }
    const {locateRun, undoStep} = await services();
    const found = await locateRun(run, environment);
    if (!found.ok) return found;
    const workspace = resolve(environment.cwd, values.workspace ?? '.');
    const undone = await undoStep({runDirectory: found.value, workspace, step}, environment);
    if (!undone.ok) return undone;
    const files = undone.value.restored_files.map(file => `  ${printable(JSON.stringify(file))}\n`);
    return {json: undone.value, text: `Step ${step} is taken back:\n${files.join('')}`};
  },
});
