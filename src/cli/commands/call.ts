import {text} from 'node:stream/consumers';
import type {Json} from '../../core/json.ts';
import {randomHex} from '../../core/random.ts';
import type {CallOptions, ToolHost} from '../../core/tool-host.ts';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {integerFlag, parseFlags} from '../flags/parse-flags.ts';
import {parseParams} from '../flags/parse-params.ts';
import {SESSION_FLAGS} from '../flags/session-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {serveJsonl} from '../jsonl/serve-jsonl.ts';
import {openToolbox} from '../open-toolbox.ts';
import {printResult} from '../print-result.ts';
import {printable} from '../terminal/printable.ts';
import {terminalApprover} from '../terminal/terminal-approver.ts';

const FLAGS = {
  json: {type: 'boolean', help: 'Print the exact ToolResult on one line, also of a call that failed.'},
  jsonl: {
    type: 'boolean',
    help: 'Read one ToolRequest from each line of standard input, and answer each with one line, a ToolResult.',
  },
  concurrency: {
    type: 'string',
    value: 'N',
    help: 'With --jsonl: calls at the same time, 1 to 64. Default: 8; 1 keeps the order of the lines.',
  },
  ...SESSION_FLAGS,
} as const;

export const callCommand: CommandDefinition = {
  usage: '(TOOL [JSON | -] | --jsonl)',
  flags: FLAGS,
  examples: [
    'forge-tools call read_file \'{"path": "README.md"}\'',
    'forge-tools call apply_patch - --workspace ~/project < params.json',
    'forge-tools call --jsonl --run-dir runs/1 --allow patch_file < requests.jsonl > results.jsonl',
  ],
  async run(argv, context) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    const concurrency = integerFlag('concurrency', values.concurrency, 1, 64);
    if (values.jsonl) {
      if (positionals.length > 0)
        throw new UsageError('With --jsonl, tool and parameters come from the lines.');
      return withToolbox(values, context, host => callLines(host, concurrency ?? 8, context));
    }
    const [tool, written, ...more] = positionals;
    if (tool === undefined) throw new UsageError('call needs the name of a tool, or --jsonl.');
    if (more.length > 0) throw new UsageError('call takes one tool and one JSON object. Quote the JSON.');
    if (concurrency !== undefined) throw new UsageError('--concurrency goes with --jsonl.');
    const params = parseParams(written === '-' ? await text(context.console.input) : written);
    return withToolbox(values, context, host => callOnce(host, tool, params, values.json === true, context));
  },
};

async function withToolbox(
  flags: Parameters<typeof openToolbox>[0],
  context: CommandContext,
  work: (host: ToolHost) => Promise<ExitCode>,
): Promise<ExitCode> {
  const toolbox = await openToolbox(flags, context, {start: 'session'});
  try {
    const code = await work(toolbox);
    return context.signal.aborted ? EXIT.interrupted : code;
  } finally {
    await toolbox.close();
  }
}

async function callOnce(
  host: ToolHost,
  tool: string,
  params: {readonly [name: string]: Json},
  asJson: boolean,
  {console, signal}: CommandContext,
): Promise<ExitCode> {
  const approver = terminalApprover(console);
  const options: CallOptions = {
    signal,
    ...(approver !== undefined && {approver}),
    ...(console.errInteractive && {onProgress: message => console.err(`… ${printable(message)}\n`)}),
  };
  const result = await host.call({tool, params, request_id: `cli-${randomHex(8)}`}, options);
  await printResult(result, host, asJson, console);
  return result.status === 'success' ? EXIT.ok : EXIT.failed;
}

/** Results say themselves which calls failed, so a session that ended in good order is a success. */
async function callLines(host: ToolHost, concurrency: number, context: CommandContext): Promise<ExitCode> {
  const {console, signal} = context;
  await serveJsonl(host, {input: console.input, write: console.out, signal, concurrency});
  return EXIT.ok;
}
