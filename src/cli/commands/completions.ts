import type {CommandDefinition} from '../command.ts';
import {completionsFor, SHELLS, type Shell} from '../completions/completions-for.ts';
import {EXIT} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {UsageError} from '../flags/usage-error.ts';

const FLAGS = {} as const;

export const completionsCommand: CommandDefinition = {
  usage: `(${SHELLS.join(' | ')})`,
  flags: FLAGS,
  examples: [
    'eval "$(forge-tools completions bash)"',
    'forge-tools completions zsh > ~/.zfunc/_forge-tools',
    'forge-tools completions fish > ~/.config/fish/completions/forge-tools.fish',
  ],
  async run(argv, {console, commands}) {
    const {positionals} = parseFlags(argv, FLAGS);
    const shell = SHELLS.find(known => known === positionals[0]);
    if (shell === undefined || positionals.length > 1) {
      throw new UsageError(`completions takes one of ${SHELLS.join(', ')}.`);
    }
    await console.out(completionsFor(shell satisfies Shell, await commands()));
    return EXIT.ok;
  },
};
