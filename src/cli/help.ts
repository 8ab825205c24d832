import type {Command} from './command.ts';
import type {Flag} from './parse-flags.ts';

/** `forge-tools --help` */
export function renderOverview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(command => command.name.length));
  return [
    'forge-tools: the hands of an LLM agent, guarded.',
    '',
    'Usage: forge-tools COMMAND [flags]',
    '',
    'Commands:',
    ...commands.map(command => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    'Flags:',
    '  -h, --help     Help; behind a command, help for that command',
    '  -V, --version  The version',
    '',
    'Exit codes: 0 success, 1 a call failed, 2 wrong usage, 3 unusable configuration, 4 an incomplete page, 130 interrupted.',
    '',
  ].join('\n');
}

/** `forge-tools COMMAND --help`, printed from the command's own definition. */
export function renderHelp(command: Command): string {
  const flags = Object.entries(command.flags).map(
    ([name, flag]) => [flagName(name, flag), flag.help] as const,
  );
  const width = Math.max(0, ...flags.map(([name]) => name.length));
  return [
    `${command.summary}.`,
    '',
    `Usage: forge-tools ${command.name} ${command.usage}`.trimEnd(),
    ...(flags.length > 0
      ? ['', 'Flags:', ...flags.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`)]
      : []),
    ...(command.examples.length > 0 ? ['', 'Examples:', ...command.examples.map(line => `  ${line}`)] : []),
    '',
  ].join('\n');
}

function flagName(name: string, flag: Flag): string {
  return `${flag.short ? `-${flag.short}, ` : ''}--${name}${flag.value ? ` ${flag.value}` : ''}`;
}
