// `exec`: runs a command in the sandbox of the tool run, for people, Makefiles and the hooks of other hosts.
import {once} from 'node:events';
import {constants} from 'node:os';
import {relative, resolve} from 'node:path';
import type {Failure} from '../../core/result.ts';
import type {Approver} from '../../core/tool-host.ts';
import {shellWords} from '../client-settings.ts';
import {defineCommand, EXIT} from '../command.ts';
import {printable} from '../console.ts';
import {integerFlag} from '../flags.ts';
import {openToolbox} from '../open-toolbox.ts';
import {SESSION_FLAGS} from '../session-flags.ts';

/** As `timeout`, `env` and shells have them. What the command itself exits with goes through. */
const TIMED_OUT = 124;
const NOT_STARTED = 125;
const REFUSED = 126;
const SIGNALLED = 128;
const DAY_SECONDS = 86_400;

const {groups: _, ...RUN_FLAGS} = SESSION_FLAGS;

/** Whoever typed the command wants it to run. Rules that deny are not asked about. */
const TYPED: Approver = {ask: async () => ({answer: 'once'})};

export const execCommand = defineCommand({
  usage: '[flags] -- COMMAND [ARGUMENT ...]',
  takes: [args => args.length > 0, 'exec takes a command behind --.'],
  // biome-ignore format: a flag is a line
  flags: {
    timeout: {type: 'string', value: 'SECONDS', help: 'End the command after so long. Default: tools.run.timeout_seconds; at most tools.run.max_timeout_seconds.'},
    ...RUN_FLAGS,
  },
  examples: [
    'forge-tools exec -- npm test',
    "forge-tools exec --timeout 600 -- 'make 2>&1 | tail -20'",
    'forge-tools exec --workspace ~/project -- git status',
  ],
  interruptible: true,
  async run({values, args, console, signal, environment, ...context}) {
    const timeout = integerFlag('timeout', values.timeout, 1, DAY_SECONDS);
    const toolbox = await openToolbox(values, {...context, console, signal, environment});
    const {output: out, err} = console;
    const decoders = {stdout: new TextDecoder(), stderr: new TextDecoder()};
    try {
      const root = resolve(environment.cwd, values.workspace ?? '.');
      const below = relative(root, environment.cwd);
      const [only = ''] = args;
      const params = {
        // One word is a line for the shell, as with ssh; several are a program and its arguments.
        command: args.length === 1 ? only : shellWords(args),
        ...(below === '' || below.startsWith('..') ? {} : {cwd: below}),
        ...(timeout === undefined ? {} : {timeout_sec: timeout}),
      };
      const result = await toolbox.call(
        {tool: 'run', params},
        {
          signal,
          approver: TYPED,
          onOutput: (stream, bytes) => {
            if (stream === 'stdout' && !console.interactive) {
              out.write(bytes);
              return;
            }
            // A command must not give orders to a terminal.
            const text = decoders[stream].decode(bytes, {stream: true});
            if (stream === 'stdout') void console.out(text);
            else err(text);
          },
        },
      );
      if (out.writableNeedDrain && !out.destroyed) await once(out, 'drain');
      if (result.error === null) return result.exit_code ?? EXIT.ok;
      if (!signal.aborted) err(`forge-tools: ${printable(sentenceOf(result.error))}\n`);
      return exitCodeOf(result.error);
    } finally {
      await toolbox.close();
    }
  },
});

/** The output was shown as it came. A failure of `run` shows its end again. */
function sentenceOf({code, message, details}: Failure): string {
  if (code === 'timeout')
    return `The command ran for ${Number(details['timeout_ms']) / 1000} s and was ended.`;
  if (code !== 'abnormal_exit') return message;
  return details['reason'] === 'out_of_memory'
    ? 'The command ran out of memory (tools.run.memory_mb).'
    : `The command was ended by ${details['signal']}.`;
}

function exitCodeOf({code, details}: Failure): number {
  switch (code) {
    case 'timeout':
      return TIMED_OUT;
    case 'abnormal_exit': {
      const number = Object.entries(constants.signals).find(([name]) => name === details['signal'])?.[1];
      return SIGNALLED + (number ?? constants.signals.SIGKILL);
    }
    case 'cancelled':
      return EXIT.interrupted;
    case 'approval_denied':
    case 'approval_required':
    case 'tool_disabled':
    case 'unknown_tool':
      return REFUSED;
    default:
      return NOT_STARTED;
  }
}
