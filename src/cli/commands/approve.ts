import {resolve} from 'node:path';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {type Console, styled} from '../console.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {renderFailure} from '../render/render-failure.ts';
import {renderSummary} from '../render/render-summary.ts';
import {printable} from '../terminal/printable.ts';
import {quoted} from '../terminal/quoted.ts';
import type {ApprovalManager, PendingApproval} from '../toolbox-services.ts';

const FLAGS = {
  'run-dir': {
    type: 'string',
    value: 'DIR',
    help: 'The run whose call waits. Default: every run of the default place.',
  },
  yes: {type: 'boolean', short: 'y', help: 'On a terminal: approve without showing the call and asking.'},
  dismiss: {type: 'boolean', help: 'Forget the call instead.'},
  json: {type: 'boolean', help: 'Print what waits, or what was approved, as JSON lines.'},
} as const;

export const approveCommand: CommandDefinition = {
  usage: '[ID]',
  flags: FLAGS,
  examples: ['forge-tools approve', 'forge-tools approve 3f1c0a9b77d24e5f8a10 --run-dir runs/1'],
  async run(argv, context: CommandContext) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    const [id, ...more] = positionals;
    if (more.length > 0) throw new UsageError('approve takes one ID.');
    if (values.dismiss && id === undefined) throw new UsageError('--dismiss needs an ID.');
    const {console, environment} = context;
    const runDirectory =
      values['run-dir'] === undefined ? undefined : resolve(environment.cwd, values['run-dir']);
    const manager = (await context.services()).openApprovals(runDirectory, environment);
    if (id === undefined) return list(manager, values.json === true, console);

    if (!values.dismiss && !values.yes && console.ask !== undefined) {
      const confirmed = await confirm(manager, id, context);
      if (confirmed !== EXIT.ok) return confirmed;
    }
    const decided = await (values.dismiss ? manager.dismiss(id) : manager.approve(id));
    if (!decided.ok) {
      console.err(renderFailure(decided.error, undefined, console));
      return EXIT.failed;
    }
    const done = values.dismiss ? 'Dismissed' : 'Approved once, until';
    const until = values.dismiss ? '' : ` ${printable(decided.value.expires_at)}`;
    await console.out(
      values.json
        ? `${JSON.stringify(decided.value)}\n`
        : `${[`${done}${until}:`, ...renderSummary(decided.value.summary, console)].join('\n')}\n`,
    );
    return EXIT.ok;
  },
};

async function list(manager: ApprovalManager, asJson: boolean, console: Console): Promise<ExitCode> {
  const waiting = await manager.list();
  if (!waiting.ok) {
    console.err(renderFailure(waiting.error, undefined, console));
    return EXIT.failed;
  }
  if (asJson) {
    await console.out(waiting.value.map(approval => `${JSON.stringify(approval)}\n`).join(''));
  } else if (waiting.value.length === 0) {
    console.err('No call waits for an approval.\n');
  } else {
    await console.out(waiting.value.map(approval => render(approval, console)).join('\n'));
  }
  return EXIT.ok;
}

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

function render({id, summary, preview, expires_at}: PendingApproval, console: Console): string {
  const head = `${styled(console, 'cyan', id)}  waits until ${printable(expires_at)}`;
  return `${[head, ...renderSummary(summary, console), ...quoted(preview, console)].join('\n')}\n`;
}
