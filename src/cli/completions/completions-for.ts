import type {Command} from '../command.ts';
import type {Flag} from '../flags/parse-flags.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Command[]) => string>> = {bash, zsh, fish};

/** A script for one shell, made from the definitions that the commands themselves are parsed with. */
export function completionsFor(shell: Shell, commands: readonly Command[]): string {
  return SCRIPTS[shell](commands);
}

function bash(commands: readonly Command[]): string {
  const flags = commands.map(({name, flags: own}) => {
    const words = Object.keys(own).map(flag => `--${flag}`);
    return `    ${name}) flags=${quoted([...words, '--help'].join(' '))} ;;`;
  });
  const verbs = commands.flatMap(({name, verbs: own = []}) =>
    own.length === 0 ? [] : [`    ${name}) verbs=${quoted(own.join(' '))} ;;`],
  );
  const withPath = [...new Set(commands.flatMap(command => pathFlags(command)))];
  return `# bash completion of forge-tools
_forge_tools() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} flags verbs=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(names(commands))} -- "$word"))
    return
  fi
  case $before in
    ${withPath.join('|')}) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  case \${COMP_WORDS[1]} in
${flags.join('\n')}
  esac
  case \${COMP_WORDS[1]} in
${verbs.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ] && [ "\${word#-}" = "$word" ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$word"))
    return
  fi
  case $word in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -F _forge_tools forge-tools
`;
}

function zsh(commands: readonly Command[]): string {
  const described = commands.map(({name, summary}) => `    ${quoted(`${name}:${summary}`)}`);
  const cases = commands.map(({name, flags, verbs = []}) => {
    const first = verbs.length === 0 ? [] : [quoted(`1:verb:(${verbs.join(' ')})`)];
    const specs = Object.entries(flags).map(([flag, definition]) => zshFlag(flag, definition));
    return `    ${name}) _arguments ${[...specs, ...first, `'--help[Help for this command]'`, `'*:file:_files'`].join(' ')} ;;`;
  });
  return `#compdef forge-tools
_forge_tools() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _forge-tools ]; then _forge_tools "$@"; else compdef _forge_tools forge-tools; fi
`;
}

function zshFlag(name: string, {help, value, type}: Flag): string {
  const about = help.replace(/[[\]]/g, '').replaceAll(':', ';');
  const taken = type === 'boolean' ? '' : `:${value ?? 'value'}:${isPath(value) ? '_files' : ''}`;
  return quoted(`--${name}[${about}]${taken}`);
}

function fish(commands: readonly Command[]): string {
  const lines = [`complete -c forge-tools -n __fish_use_subcommand -f`];
  for (const {name, summary, flags, verbs = []} of commands) {
    lines.push(`complete -c forge-tools -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
    if (verbs.length > 0) {
      const first = quoted(
        `__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${verbs.join(' ')}`,
      );
      lines.push(`complete -c forge-tools -n ${first} -f -a ${quoted(verbs.join(' '))}`);
    }
    for (const [flag, {help, value, type, short}] of Object.entries(flags)) {
      const letter = short === undefined ? '' : ` -s ${short}`;
      const taken = type === 'boolean' ? '' : isPath(value) ? ' -r -F' : ' -x';
      const where = quoted(`__fish_seen_subcommand_from ${name}`);
      lines.push(`complete -c forge-tools -n ${where} -l ${flag}${letter}${taken} -d ${quoted(help)}`);
    }
  }
  return `# fish completion of forge-tools\n${lines.join('\n')}\n`;
}

function names(commands: readonly Command[]): string {
  return commands.map(({name}) => name).join(' ');
}

function pathFlags({flags}: Command): readonly string[] {
  return Object.entries(flags).flatMap(([name, {value}]) => (isPath(value) ? [`--${name}`] : []));
}

function isPath(value: string | undefined): boolean {
  return value === 'FILE' || value === 'DIR';
}

/** For the shells named here; in fish a backslash within quotes is one, which no text of ours has. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
