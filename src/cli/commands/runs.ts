import {systemClock} from '../../core/clock.ts';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {type Console, styled} from '../console.ts';
import {EXIT} from '../exit-codes.ts';
import {integerFlag, parseFlags} from '../flags/parse-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {humanDuration} from '../render/human-duration.ts';
import {printable} from '../terminal/printable.ts';
import type {ListedRun} from '../toolbox-services.ts';

const FLAGS = {
  limit: {type: 'string', value: 'N', help: 'The latest N runs, 1 to 10000. Default: 20.'},
  json: {type: 'boolean', help: 'Print one JSON object on each line.'},
} as const;

export const runsCommand: CommandDefinition = {
  usage: '',
  flags: FLAGS,
  examples: ['forge-tools runs', 'forge-tools runs --limit 1 --json | jq -r .path'],
  async run(argv, {console, environment, services}: CommandContext) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    if (positionals.length > 0) throw new UsageError('runs takes no arguments.');
    const limit = integerFlag('limit', values.limit, 1, 10_000) ?? 20;
    const {root, runs} = await (await services()).listRuns(limit, environment);
    if (values.json) {
      await console.out(runs.map(run => `${JSON.stringify(run)}\n`).join(''));
      return EXIT.ok;
    }
    const now = systemClock.now();
    await console.out(runs.map(run => render(run, Number(now), console)).join(''));
    console.err(
      runs.length === 0
        ? `No run is kept in ${root} yet.\n`
        : `They are in ${root}. report, undo and "events verify" take a name, or "latest".\n`,
    );
    return EXIT.ok;
  },
};

function render({name, time, calls, tools, ended}: ListedRun, now: number, console: Console): string {
  const facts = [
    `${humanDuration(now - time)} ago`,
    `${calls} ${calls === 1 ? 'call' : 'calls'}`,
    ...(ended ? [] : ['not ended']),
    tools.join(', '),
  ];
  const shown = facts.filter(fact => fact !== '').join(' · ');
  return `${styled(console, 'bold', name)}  ${printable(shown)}\n`;
}
