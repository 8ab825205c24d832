// `tools`: lists the tools that a configuration offers, or prints their definitions for an API.
import {anthropicTools} from '../../adapters/anthropic.ts';
import {openaiChatTools, openaiTools} from '../../adapters/openai.ts';
import type {ToolHost, ToolListing} from '../../core/tool-host.ts';
import {describeTool} from '../../mcp/describe-tool.ts';
import {defineCommand} from '../command.ts';
import {type Console, printable, styled} from '../console.ts';
import {UsageError} from '../flags.ts';
import {openToolbox} from '../open-toolbox.ts';
import {PROFILE_FLAG, TOOLBOX_FLAGS} from '../session-flags.ts';

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

export const toolsCommand = defineCommand({
  usage: '[--format FORMAT]',
  takes: [args => args.length === 0, 'tools takes no arguments.'],
  // biome-ignore format: a flag is a line
  flags: {
    format: {type: 'string', value: 'FORMAT', help: `Print the definitions as JSON: ${Object.keys(FORMATS).join(', ')}.`},
    profile: PROFILE_FLAG,
    ...TOOLBOX_FLAGS,
  },
  examples: ['forge-tools tools', 'forge-tools tools --format anthropic > tools.json'],
  async run({values, ...context}) {
    const {format} = values;
    const render = format !== undefined && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    if (format !== undefined && render === undefined) {
      throw new UsageError(`--format takes one of ${Object.keys(FORMATS).join(', ')}, got "${format}".`);
    }
    const toolbox = await openToolbox(values, context);
    try {
      const {console} = context;
      // With a log level, standard error is JSON lines.
      if (values['log-level'] === undefined) {
        for (const sentence of toolbox.switchedOff) console.err(`${printable(sentence)}\n`);
      }
      if (render !== undefined) return {text: `${JSON.stringify(render(toolbox), null, 2)}\n`};
      const tools = toolbox.listTools();
      return {text: tools.map(tool => renderTool(tool, console)).join('')};
    } finally {
      await toolbox.close();
    }
  },
});

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
