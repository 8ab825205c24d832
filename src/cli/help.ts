// Prints `--help`, for all commands or for one, from their declarations.
import type {Command, CommandSummary} from './command.ts';
import type {Flag} from './flags.ts';
import {wrapText} from './text-layout.ts';

/** Narrower text is not read beside a name. */
const LEAST_TEXT = 30;

/** `forge-tools --help` */
export function renderOverview(commands: readonly CommandSummary[], columns: number): string {
  const width = Math.max(...commands.map(command => command.name.length));
  return [
    'forge-tools: guarded tools for LLM agents (web pages, files, commands).',
    '',
    'Usage: forge-tools COMMAND [flags]',
    '',
    'Commands:',
    ...commands.map(command => row(command.name, width, command.summary, columns)),
    '',
    'Flags:',
    '  -h, --help     Help; behind a command, help for that command',
    '  -V, --version  The version',
    '',
    wrapText(
      'Exit codes: 0 success, 1 a call failed, 2 wrong usage, 3 unusable configuration, 4 an incomplete page, 130 interrupted.',
      columns,
    ),
    '',
  ].join('\n');
}

/** `forge-tools COMMAND --help`, printed from the command's own definition. */
export function renderHelp(command: Command, columns: number): string {
  const flags = Object.entries(command.flags).map(
    ([name, flag]) => [flagName(name, flag), flag.help] as const,
  );
  const width = Math.max(0, ...flags.map(([name]) => name.length));
  return [
    `${command.summary}.`,
    '',
    wrapText(`Usage: forge-tools ${command.name} ${command.usage}`.trimEnd(), columns, '         '),
    ...(flags.length > 0
      ? ['', 'Flags:', ...flags.map(([name, help]) => row(name, width, help, columns))]
      : []),
    ...(command.examples.length > 0 ? ['', 'Examples:', ...command.examples.map(line => `  ${line}`)] : []),
    '',
  ].join('\n');
}

function flagName(name: string, flag: Flag): string {
  return `${flag.short ? `-${flag.short}, ` : ''}--${name}${flag.value ? ` ${flag.value}` : ''}`;
}

/** A name, and what it means beside it or, where that leaves too little room, below it. */
function row(name: string, width: number, text: string, columns: number): string {
  const indent = width + 4;
  if (columns - indent >= LEAST_TEXT) {
    const [first = '', ...more] = wrapText(text, columns - indent).split('\n');
    return [`  ${name.padEnd(width)}  ${first}`, ...more.map(line => ' '.repeat(indent) + line)].join('\n');
  }
  const lines = wrapText(text, columns - 6).split('\n');
  return [`  ${name}`, ...lines.map(line => `      ${line}`)].join('\n');
}
