// `runs`: lists the runs that are kept, and removes old ones.
import {systemClock} from '../../core/clock.ts';
import {type Answer, defineCommand} from '../command.ts';
import {type Console, printable, styled} from '../console.ts';
import {integerFlag, UsageError} from '../flags.ts';
import {readSettings} from '../read-settings.ts';
import {TOOLBOX_FLAGS} from '../session-flags.ts';
import {humanDuration, humanSize} from '../text-layout.ts';
import type {ListedRun, ToolboxServices} from '../toolbox-services.ts';

const DAY_MS = 86_400_000;

export const runsCommand = defineCommand({
  usage: '[prune]',
  verbs: ['prune'],
  takes: [
    ({0: verb = 'prune', length}) => length <= 1 && verb === 'prune',
    'runs takes no argument, or "prune".',
  ],
  // biome-ignore format: a flag is a line
  flags: {
    limit: {type: 'string', value: 'N', help: 'The latest N runs, 1 to 10000. Default: 20.'},
    'older-than': {type: 'string', value: 'DAYS', help: 'prune: remove runs that were not written to for so many days. Default: runs.keep_days.'},
    keep: {type: 'string', value: 'N', help: 'prune: remove all but the latest N. Default: no such limit.'},
    'dry-run': {type: 'boolean', help: 'prune: say what would be removed, and remove nothing.'},
    json: {type: 'boolean', help: 'Print one JSON object on each line.'},
    config: TOOLBOX_FLAGS.config,
  },
  examples: [
    'forge-tools runs',
    'forge-tools runs --limit 1 --json | jq -r .path',
    'forge-tools runs prune --older-than 7 --dry-run',
  ],
  async run({values, args: [verb], ...context}) {
    const {console, environment, services} = context;
    const olderThan = integerFlag('older-than', values['older-than'], 1, 36_500);
    const keep = integerFlag('keep', values.keep, 0, 1_000_000);
    if (verb === 'prune') {
      if (values.limit !== undefined) throw new UsageError('--limit goes with the list of runs.');
      const {config} = (await readSettings({config: values.config}, context)).resolved;
      const dryRun = values['dry-run'] === true;
      const limits = {olderThanMs: olderThan && olderThan * DAY_MS, keep, dryRun};
      return renderPruned(await (await services()).pruneRuns(config, limits, environment), dryRun, console);
    }
    if (olderThan !== undefined || keep !== undefined || values['dry-run'] !== undefined) {
      throw new UsageError('--older-than, --keep and --dry-run go with "runs prune".');
    }
    const limit = integerFlag('limit', values.limit, 1, 10_000) ?? 20;
    const {root, runs} = await (await services()).listRuns(limit, environment);
    const now = Number(systemClock.now());
    const note =
      runs.length === 0
        ? `No run is kept in ${root} yet.\n`
        : `They are in ${root}. report, undo and "events verify" take a name, or "latest".\n`;
    return {
      json: runs,
      text: runs.map(run => render(run, now, console)).join(''),
      note: values.json ? '' : note,
    };
  },
});

function renderPruned(
  pruned: Awaited<ReturnType<ToolboxServices['pruneRuns']>>,
  isDry: boolean,
  console: Console,
): Answer {
  if (!pruned.ok) return pruned;
  const {root, removed, kept} = pruned.value;
  const now = Number(systemClock.now());
  const lines = removed.map(
    ({name, time, bytes}) =>
      `${styled(console, 'bold', name)}  ${humanDuration(now - time)} ago · ${humanSize(bytes)}\n`,
  );
  const size = humanSize(removed.reduce((sum, run) => sum + run.bytes, 0));
  const done = isDry ? 'would be removed' : removed.length === 1 ? 'was removed' : 'were removed';
  const count = `${removed.length} ${removed.length === 1 ? 'run' : 'runs'} (${size}) ${done}`;
  return {json: removed, text: lines.join(''), note: `${count}, ${kept} stay in ${root}.\n`};
}

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
