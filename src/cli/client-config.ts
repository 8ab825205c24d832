export const CLIENTS = ['claude', 'cursor', 'vscode', 'codex', 'gemini'] as const;
export type Client = (typeof CLIENTS)[number];

export interface ClientConfig {
  /** Where the client looks for it. */
  readonly file: string;
  readonly text: string;
}

interface Server {
  readonly command: string;
  readonly args: readonly string[];
}

const NAME = 'forge-tools';

/** A call may ask somebody, and `web_fetch` and `run` take their time: longer than what clients allow by themselves. */
const PATIENCE_SEC = 600;

/** The lines that make a client start this server, in the form that the client documents. */
export function clientConfig(
  client: Client,
  [command, ...args]: readonly [string, ...string[]],
): ClientConfig {
  const server: Server = {command, args};
  switch (client) {
    case 'claude':
      return {
        file: '.mcp.json in the project (or: claude mcp add-json)',
        text: json({mcpServers: {[NAME]: {type: 'stdio', ...server}}}),
      };
    case 'cursor':
      return {
        file: '.cursor/mcp.json in the project, or ~/.cursor/mcp.json',
        text: json({mcpServers: {[NAME]: {type: 'stdio', ...server}}}),
      };
    case 'vscode':
      return {
        file: '.vscode/mcp.json in the project',
        text: json({servers: {[NAME]: {type: 'stdio', ...server}}}),
      };
    case 'gemini':
      return {
        file: '.gemini/settings.json in the project, or ~/.gemini/settings.json',
        text: json({mcpServers: {[NAME]: {...server, timeout: PATIENCE_SEC * 1000}}}),
      };
    case 'codex':
      return {file: '~/.codex/config.toml', text: toml(server)};
  }
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** JSON's strings are TOML's but for DEL. */
function toml({command, args}: Server): string {
  const text = (value: string): string => JSON.stringify(value).replaceAll('\u007f', '\\u007f');
  return [
    `[mcp_servers.${NAME}]`,
    `command = ${text(command)}`,
    `args = [${args.map(text).join(', ')}]`,
    `tool_timeout_sec = ${PATIENCE_SEC}`,
    '',
  ].join('\n');
}
