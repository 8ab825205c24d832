// @ts-check
// Your own program as an MCP client, which answers the questions about side effects itself:
// node examples/cookbook/mcp-client.js PROJECT
import {fileURLToPath} from 'node:url';
import {Client} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';

const server = fileURLToPath(import.meta.resolve('forge-tools/package.json')).replace(
  /package\.json$/,
  'dist/bin/forge-tools.js',
);
const client = new Client({name: 'cookbook', version: '1.0.0'}, {capabilities: {elicitation: {form: {}}}});
client.setRequestHandler('elicitation/create', async ({params}) => {
  console.log(params.message.replace(/^/gm, '  '));
  // "session-rule" and "always" take a `rule`; "refuse" and "stop" a `reason`.
  return {action: 'accept', content: {decision: 'once'}};
});

await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [server, 'mcp', '--workspace', process.argv[2] ?? '.', ...process.argv.slice(3)],
    stderr: 'inherit',
  }),
);
const {tools} = await client.listTools();
console.log(`${tools.length} tools: ${tools.map(tool => tool.name).join(', ')}`);

const call = async (/** @type {string} */ name, /** @type {Record<string, unknown>} */ args) => {
  const {content, isError} = await client.callTool({name, arguments: args});
  const [first] = content;
  console.log(`${name}: ${isError ? 'failed' : 'done'}\n${first?.type === 'text' ? first.text : ''}`);
};
await call('write_file', {path: 'hello.txt', content: 'Hello\n'});
await call('read_file', {path: 'hello.txt'});
await client.close();
