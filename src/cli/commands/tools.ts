import {anthropicTools} from '../../adapters/anthropic.ts';
import {openaiTools} from '../../adapters/openai.ts';
import {openaiChatTools} from '../../adapters/openai-chat.ts';
import type {ToolHost, ToolListing} from '../../core/tool-host.ts';
import {describeTool} from '../../mcp/describe-tool.ts';
import type {CommandDefinition} from '../command.ts';
import {type Console, styled} from '../console.ts';
import {EXIT} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {PROFILE_FLAG} from '../flags/session-flags.ts';
import {TOOLBOX_FLAGS} from '../flags/toolbox-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {openToolbox} from '../open-toolbox.ts';

const FORMATS: Readonly<Record<string, (host: ToolHost) => unknown>> = {
  mcp: host => ({tools: host.listTools().map(listing => describeTool(listing))}),
  openai: host => openaiTools(host).tools,
  'openai-chat': host => openaiChatTools(host).tools,
  anthropic: host => anthropicTools(host).tools,
  jsonschema: host =>
    Object.fromEntries(
      host
        .listTools()
        .map(({name, paramsSchema, dataSchema}) => [name, {params: paramsSchema, data: dataSchema}]),
    ),
};

const FLAGS = {
  format: {
    type: 'string',
    value: 'FORMAT',
    help: `Print the definitions as JSON: ${Object.keys(FORMATS).join(', ')}.`,
  },
  profile: PROFILE_FLAG,
  ...TOOLBOX_FLAGS,
} as const;

export const toolsCommand: CommandDefinition = {
  usage: '[--format FORMAT]',
  flags: FLAGS,
  examples: ['forge-tools tools', 'forge-tools tools --format anthropic > tools.json'],
  async run(argv, context) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    if (positionals.length > 0) throw new UsageError('tools takes no arguments.');
    const {format} = values;
    const render = format !== undefined && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    if (format !== undefined && render === undefined) {
      throw new UsageError(`--format takes one of ${Object.keys(FORMATS).join(', ')}, got "${format}".`);
    }
    const toolbox = await openToolbox(values, context);
    try {
      const {console} = context;
      if (toolbox.listTools().length === 0) {
        console.err(
          `No tool is offered: tools.mode is "${toolbox.config.tools.mode}". Set it to "enabled", or add profile = "guarded" at the top of the file.\n`,
        );
      }
      if (render !== undefined) await console.out(`${JSON.stringify(render(toolbox), null, 2)}\n`);
      else
        await console.out(
          toolbox
            .listTools()
            .map(tool => renderTool(tool, console))
            .join(''),
        );
      return EXIT.ok;
    } finally {
      await toolbox.close();
    }
  },
};

function renderTool({name, title, description, annotations}: ToolListing, console: Console): string {
  const {readOnly, destructive, openWorld} = annotations;
  const effect = readOnly ? 'reads' : destructive ? 'changes what is there' : 'adds';
  // What neither reads alone nor changes anything here is seen by those it reaches.
  const isOutside = openWorld && !readOnly && !destructive;
  const hints = [...(isOutside ? [] : [effect]), ...(openWorld ? ['reaches the network'] : [])];
  const [sentence = ''] = /^.*?[.!?](?=\s|$)/s.exec(description) ?? [description];
  const head = `${styled(console, 'bold', name)}  ${styled(console, 'dim', `${title} · ${hints.join(', ')}`)}`;
  return `${head}\n    ${sentence.replace(/\s+/g, ' ')}\n`;
}
