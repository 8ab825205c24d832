// `bot-key`: makes the key that signs requests to web sites, and prints the part to publish.
import {defineCommand, EXIT} from '../command.ts';
import {printable} from '../console.ts';

const WHERE = '/.well-known/http-message-signatures-directory';

export const botKeyCommand = defineCommand({
  usage: 'FILE',
  takes: [args => args.length === 1 && args[0] !== '', 'bot-key needs one FILE for the key.'],
  flags: {},
  examples: [
    'forge-tools bot-key ~/.config/forge-tools/bot-key.pem',
    'forge-tools bot-key ~/.config/forge-tools/bot-key.pem > http-message-signatures-directory',
  ],
  async run({args: [file = ''], environment, services}) {
    const opened = (await services()).openBotKey(file, environment);
    if (!opened.ok) return {text: '', note: `${printable(opened.error)}\n`, code: EXIT.failed};
    const {isNew, directory} = opened.value;
    return {
      text: `${JSON.stringify(directory, undefined, 2)}\n`,
      note:
        `${isNew ? 'Made the key.' : 'The key was there, and stays as it is.'} Publish the lines above as ${WHERE} of an https origin, ` +
        'of the type application/http-message-signatures-directory+json. Then set in [tools.webfetch.identity]: key_file, and agent_url to that origin.\n',
    };
  },
});
