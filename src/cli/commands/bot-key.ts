import type {CommandDefinition} from '../command.ts';
import {EXIT} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {printable} from '../terminal/printable.ts';

const WHERE = '/.well-known/http-message-signatures-directory';

export const botKeyCommand: CommandDefinition = {
  usage: 'FILE',
  flags: {},
  examples: [
    'forge-tools bot-key ~/.config/forge/bot-key.pem',
    'forge-tools bot-key ~/.config/forge/bot-key.pem > http-message-signatures-directory',
  ],
  async run(argv, {console, environment, services}) {
    const {positionals} = parseFlags(argv, {});
    const [file, ...more] = positionals;
    if (file === undefined || file === '' || more.length > 0) {
      throw new UsageError('bot-key needs one FILE for the key.');
    }
    const opened = (await services()).openBotKey(file, environment);
    if (!opened.ok) {
      console.err(`${printable(opened.error)}\n`);
      return EXIT.failed;
    }
    const {isNew, directory} = opened.value;
    await console.out(`${JSON.stringify(directory, undefined, 2)}\n`);
    console.err(
      `${isNew ? 'Made the key.' : 'The key was there, and stays as it is.'} Publish the lines above as ${WHERE} of an https origin, ` +
        'of the type application/http-message-signatures-directory+json. Then set in [tools.webfetch.identity]: key_file, and agent_url to that origin.\n',
    );
    return EXIT.ok;
  },
};
