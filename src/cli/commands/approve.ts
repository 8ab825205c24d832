// `approve`: allows one call that waits for an approval, forgets it, or lists those that wait.
import {resolve} from 'node:path';
import {headOfQuestion} from '../../core/tool-host.ts';
import {type CommandContext, defineCommand, EXIT, type ExitCode} from '../command.ts';
import {type Console, printable, styled} from '../console.ts';
import {UsageError} from '../flags.ts';
import {renderSummary} from '../print-result.ts';
import {quoted} from '../text-layout.ts';
import type {ApprovalManager, PendingApproval} from '../toolbox-services.ts';

const NONE = 'No call waits for an approval.\n';

export const approveCommand = defineCommand({
  usage: '[ID]',
  takes: [args => args.length <= 1, 'approve takes one ID.'],
  // biome-ignore format: a flag is a line
  flags: {
    'run-dir': {type: 'string', value: 'DIR', help: 'The run whose call waits. Default: every run of the default place.'},
    yes: {type: 'boolean', short: 'y', help: 'On a terminal: approve without showing the call and asking.'},
    dismiss: {type: 'boolean', help: 'Forget the call instead.'},
    'dismiss-all': {type: 'boolean', help: 'Forget every call that waits.'},
    json: {type: 'boolean', help: 'Print what waits, or what was approved, as JSON lines.'},
  },
  examples: ['forge-tools approve', 'forge-tools approve 3f1c0a9b77d24e5f8a10 --run-dir runs/1'],
  async run({values, args: [id], ...context}) {
    if (values.dismiss && id === undefined) throw new UsageError('--dismiss needs an ID.');
    if (values['dismiss-all'] && (id !== undefined || values.dismiss || values.yes)) {
      throw new UsageError('--dismiss-all takes no ID, and neither --yes nor --dismiss.');
    }
    const {console, environment} = context;
    const runDirectory =
      values['run-dir'] === undefined ? undefined : resolve(environment.cwd, values['run-dir']);
    const manager = (await context.services()).openApprovals(runDirectory, environment);
    if (id === undefined) {
      const found = await (values['dismiss-all'] ? manager.dismissAll() : manager.list());
      if (!found.ok) return found;
      const count = found.value.length;
      const text = values['dismiss-all']
        ? `Dismissed ${count} ${count === 1 ? 'call' : 'calls'}.\n`
        : found.value.map(approval => render(approval, console)).join('\n');
      const isNone = count === 0 && !values.json;
      return {json: found.value, text: isNone ? '' : text, note: isNone ? NONE : ''};
    }

    if (!values.dismiss && !values.yes && console.ask !== undefined) {
      const confirmed = await confirm(manager, id, context);
      if (confirmed !== EXIT.ok) return confirmed;
    }
    const decided = await (values.dismiss ? manager.dismiss(id) : manager.approve(id));
    if (!decided.ok) return decided;
    const {summary, expires_at} = decided.value;
    const done = values.dismiss ? 'Dismissed' : `Approved once, until ${printable(expires_at)}`;
    return {json: decided.value, text: `${[`${done}:`, ...renderSummary(summary, console)].join('\n')}\n`};
  },
});

/** Who approves sees what: the id alone says nothing. */
async function confirm(manager: ApprovalManager, id: string, context: CommandContext): Promise<ExitCode> {
  const {console, signal} = context;
  const waiting = await manager.list();
  const found = waiting.ok ? waiting.value.find(approval => approval.id === id) : undefined;
  // The manager says itself what is wrong with an id that does not wait.
  if (found === undefined) return EXIT.ok;
  console.err(render(found, console));
  const answer = await console.ask?.('Allow it once? [y/N] ', signal);
  if (signal.aborted) return EXIT.interrupted;
  if (/^\s*y(?:es)?\s*$/i.test(answer ?? '')) return EXIT.ok;
  console.err('Not approved. It waits on; --dismiss forgets it.\n');
  return EXIT.failed;
}

function render({id, tool, summary, preview, expires_at}: PendingApproval, console: Console): string {
  const about = headOfQuestion({action: tool === 'run' ? 'run' : undefined, summary, preview});
  const head = `${styled(console, 'cyan', id)}  waits until ${printable(expires_at)}`;
  return `${[head, ...(about === undefined ? [] : renderSummary(about, console)), ...quoted(preview, console)].join('\n')}\n`;
}
