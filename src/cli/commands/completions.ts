// `completions`: prints the script by which bash, zsh or fish completes what is typed. The script asks this program,
// which answers from the declarations of the commands.
import {type Command, defineCommand} from '../command.ts';

const SHELLS = ['bash', 'zsh', 'fish'];
/** What a script passes: `completions ask -- forge-tools WORD …`, the last one unfinished. */
const ASK = 'ask';
/** The answer where a file may follow. */
const FILES = ':files';

export const completionsCommand = defineCommand({
  usage: `(${SHELLS.join(' | ')})`,
  takes: [
    ([shell = '', ...words]) => shell === ASK || (words.length === 0 && SHELLS.includes(shell)),
    `completions takes one of ${SHELLS.join(', ')}.`,
  ],
  flags: {},
  examples: [
    'eval "$(forge-tools completions bash)"',
    'forge-tools completions zsh > ~/.zfunc/_forge-tools',
    'forge-tools completions fish > ~/.config/fish/completions/forge-tools.fish',
  ],
  async run({args: [shell = '', ...line], commands}) {
    if (shell !== ASK) return {text: SCRIPTS[shell] ?? ''};
    const words = line.slice(1);
    const offered = offers(words, await commands());
    const fitting = offered?.filter(([name]) => name.startsWith(words.at(-1) ?? ''));
    return {text: fitting ? fitting.map(([name, about]) => `${name}\t${about}\n`).join('') : `${FILES}\n`};
  },
});

/** Names and what they are for; `undefined` where a file may follow. */
function offers(
  words: readonly string[],
  commands: readonly Command[],
): readonly (readonly [name: string, about: string])[] | undefined {
  const [name, ...rest] = words;
  if (name === undefined || rest.length === 0) return commands.map(({name, summary}) => [name, summary]);
  const command = commands.find(known => known.name === name);
  if (command === undefined) return undefined;
  const {flags, verbs = []} = command;
  const before = flags[rest.at(-2)?.replace(/^--/, '') ?? ''];
  if (before?.choices !== undefined) return before.choices.map(choice => [choice, before.help]);
  if (before?.type === 'string') return before.value === 'FILE' || before.value === 'DIR' ? undefined : [];
  if (rest.at(-1)?.startsWith('-')) {
    return [
      ...Object.entries(flags).map(([flag, {help}]) => [`--${flag}`, help] as const),
      ['--help', 'Help for this command'],
    ];
  }
  return rest.length === 1 && verbs.length > 0 ? verbs.map(verb => [verb, name]) : undefined;
}

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# bash completion of forge-tools
_forge_tools() {
  local IFS=$'\\n'
  COMPREPLY=($(forge-tools completions ${ASK} -- "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null | cut -f 1))
  if [ "\${COMPREPLY[0]}" = ${FILES} ]; then
    compopt -o filenames
    COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -F _forge_tools forge-tools
`,
  zsh: `#compdef forge-tools
_forge_tools() {
  local -a offered
  offered=("\${(@f)$(forge-tools completions ${ASK} -- "\${(@)words[1,CURRENT]}" 2>/dev/null | tr '\\t' ':')}")
  if [[ $offered[1] = ${FILES} ]]; then _files; else _describe forge-tools offered; fi
}
if [ "$funcstack[1]" = _forge-tools ]; then _forge_tools "$@"; else compdef _forge_tools forge-tools; fi
`,
  fish: `# fish completion of forge-tools
function __forge_tools
  set -l offered (forge-tools completions ${ASK} -- (commandline -opc) (commandline -ct) 2>/dev/null)
  if test "$offered[1]" = ${FILES}
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $offered
  end
end
complete -c forge-tools -f -a '(__forge_tools)'
`,
};
