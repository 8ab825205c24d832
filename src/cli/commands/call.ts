// `call`: runs one call of a tool, or with `--jsonl` a session of calls from standard input.
import {text} from 'node:stream/consumers';
import {randomHex} from '../../core/clock.ts';
import type {Json} from '../../core/result.ts';
import type {CallOptions, ToolHost} from '../../core/tool-host.ts';
import {terminalApprover} from '../approve-at-terminal.ts';
import {type CommandContext, defineCommand, EXIT, type ExitCode} from '../command.ts';
import {printable} from '../console.ts';
import {integerFlag, parseParams, UsageError} from '../flags.ts';
import {serveJsonl} from '../jsonl.ts';
import {openToolbox} from '../open-toolbox.ts';
import {printResult} from '../print-result.ts';
import {SESSION_FLAGS} from '../session-flags.ts';

export const callCommand = defineCommand({
  usage: '(TOOL [JSON | -] | --jsonl)',
  takes: [args => args.length <= 2, 'call takes one tool and one JSON object. Quote the JSON.'],
  // biome-ignore format: a flag is a line
  flags: {
    json: {type: 'boolean', help: 'Print the exact ToolResult on one line, also of a call that failed.'},
    jsonl: {type: 'boolean', help: 'Read one ToolRequest from each line of standard input, and answer each with one line, a ToolResult.'},
    concurrency: {type: 'string', value: 'N', help: 'With --jsonl: calls at the same time, 1 to 64. Default: 8; 1 keeps the order of the lines.'},
    ...SESSION_FLAGS,
  },
  examples: [
    'forge-tools call read_file \'{"path": "README.md"}\'',
    'forge-tools call apply_patch - --workspace ~/project < params.json',
    'forge-tools call --jsonl --run-dir runs/1 --allow str_replace,apply_patch < requests.jsonl > results.jsonl',
  ],
  interruptible: true,
  async run({values, args: [tool, written], ...context}) {
    const concurrency = integerFlag('concurrency', values.concurrency, 1, 64);
    if (values.jsonl) {
      if (tool !== undefined) throw new UsageError('With --jsonl, tool and parameters come from the lines.');
      return withToolbox(values, context, host => callLines(host, concurrency ?? 8, context));
    }
    if (tool === undefined) throw new UsageError('call needs the name of a tool, or --jsonl.');
    if (concurrency !== undefined) throw new UsageError('--concurrency goes with --jsonl.');
    const params = parseParams(written === '-' ? await text(context.console.input) : written);
    return withToolbox(values, context, host => callOnce(host, tool, params, values.json === true, context));
  },
});

async function withToolbox(
  flags: Parameters<typeof openToolbox>[0],
  context: CommandContext,
  work: (host: ToolHost) => Promise<ExitCode>,
): Promise<ExitCode> {
  const toolbox = await openToolbox(flags, context, {start: 'session'});
  try {
    return await work(toolbox);
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
