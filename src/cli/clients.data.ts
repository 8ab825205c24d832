// biome-ignore-all lint/suspicious/noTemplateCurlyInString: clients replace such names
// The MCP clients that `setup` knows: where each keeps its settings, and how an entry looks there.

/** Where a client keeps its user's settings: `~` is the home directory, `%APPDATA%` that of Windows. */
interface Places {
  readonly darwin: string;
  readonly win32: string;
  /** And every other system. */
  readonly linux: string;
}

export interface ClientEntry {
  /** The client as its makers call it. */
  readonly title: string;
  /** The file that holds for all projects of the user. */
  readonly user?: Places;
  /** The file of one project, below its directory. */
  readonly project?: string;
  /** The table of servers in that file. */
  readonly key: string;
  readonly format: 'json' | 'toml';
  /** What stands in an entry beside `command` and `args`. */
  readonly before?: Readonly<Record<string, string>>;
  readonly after?: Readonly<Record<string, string | number | readonly string[]>>;
  /**
   * How the server learns which directory it works on: the client starts it there, replaces a variable of this
   * name, or has to be told.
   */
  readonly workspace: 'started-there' | 'named' | '${workspaceFolder}';
  /** A command of the client that makes the entry, in front of the command that starts the server. */
  readonly command?: (start: readonly string[]) => readonly string[];
  /** What the user does next. */
  readonly next: string;
}

/** A call may ask the approver, and `web_fetch` and `run` take their time: longer than what clients allow by themselves. */
const PATIENCE_SEC = 600;
/** The first start downloads the package. */
const START_SEC = 60;

const NAME = 'forge-tools';
const APPLICATION_SUPPORT = '~/Library/Application Support';

function everywhere(path: string): Places {
  return {darwin: path, win32: path, linux: path};
}

/** As their makers document them. */
// biome-ignore format: an entry is a line
export const CLIENT_ENTRIES = {
  'claude-code': {title: 'Claude Code', project: '.mcp.json', key: 'mcpServers', format: 'json', before: {type: 'stdio'}, workspace: 'started-there', command: start => ['claude', 'mcp', 'add', '--scope', 'user', NAME, '--', ...start], next: 'Start claude in the project and approve the server; /mcp shows it.'},
  'claude-desktop': {title: 'Claude Desktop', user: {darwin: `${APPLICATION_SUPPORT}/Claude/claude_desktop_config.json`, win32: '%APPDATA%/Claude/claude_desktop_config.json', linux: '~/.config/Claude/claude_desktop_config.json'}, key: 'mcpServers', format: 'json', workspace: 'named', next: 'Quit Claude Desktop and start it again.'},
  cursor: {title: 'Cursor', user: everywhere('~/.cursor/mcp.json'), project: '.cursor/mcp.json', key: 'mcpServers', format: 'json', before: {type: 'stdio'}, workspace: '${workspaceFolder}', next: 'Look at Settings, MCP.'},
  vscode: {title: 'VS Code', user: {darwin: `${APPLICATION_SUPPORT}/Code/User/mcp.json`, win32: '%APPDATA%/Code/User/mcp.json', linux: '~/.config/Code/User/mcp.json'}, project: '.vscode/mcp.json', key: 'servers', format: 'json', before: {type: 'stdio'}, workspace: '${workspaceFolder}', command: ([command = '', ...args]) => ['code', '--add-mcp', JSON.stringify({name: NAME, type: 'stdio', command, args})], next: 'Run "MCP: List Servers" and start it.'},
  codex: {title: 'Codex', user: everywhere('~/.codex/config.toml'), key: 'mcp_servers', format: 'toml', after: {startup_timeout_sec: START_SEC, tool_timeout_sec: PATIENCE_SEC}, workspace: 'started-there', command: start => ['codex', 'mcp', 'add', NAME, '--', ...start], next: 'Start codex in the project; /mcp shows it.'},
  gemini: {
    title: 'Gemini CLI',
    user: everywhere('~/.gemini/settings.json'),
    project: '.gemini/settings.json',
    key: 'mcpServers',
    format: 'json',
    after: {timeout: PATIENCE_SEC * 1000},
    workspace: 'started-there',
    // What stands behind "--" goes to the server; in front of it "-y" would be Gemini's own.
    command: ([command = '', ...args]) => [
      'gemini',
      'mcp',
      'add',
      '--scope',
      'user',
      NAME,
      command,
      '--',
      ...args,
    ],
    next: 'Start gemini in the project; /mcp shows it.',
  },
  copilot: {title: 'GitHub Copilot CLI', user: everywhere('~/.copilot/mcp-config.json'), key: 'mcpServers', format: 'json', before: {type: 'local'}, after: {tools: ['*']}, workspace: 'started-there', next: 'Start copilot in the project; /mcp show shows it.'},
  windsurf: {title: 'Windsurf', user: everywhere('~/.codeium/windsurf/mcp_config.json'), key: 'mcpServers', format: 'json', workspace: 'named', next: 'Refresh the servers in the Cascade panel.'},
  cline: {title: 'Cline', user: {darwin: `${APPLICATION_SUPPORT}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`, win32: '%APPDATA%/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json', linux: '~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json'}, key: 'mcpServers', format: 'json', after: {timeout: PATIENCE_SEC}, workspace: 'named', next: 'Look at MCP Servers, Configure.'},
  zed: {title: 'Zed', user: {darwin: '~/.config/zed/settings.json', win32: '%APPDATA%/Zed/settings.json', linux: '~/.config/zed/settings.json'}, project: '.zed/settings.json', key: 'context_servers', format: 'json', before: {source: 'custom'}, workspace: 'named', next: 'Look at the settings of the Agent Panel.'},
} as const satisfies Readonly<Record<string, ClientEntry>>;

export type Client = keyof typeof CLIENT_ENTRIES;
export const CLIENTS = Object.keys(CLIENT_ENTRIES) as readonly Client[];
export const SERVER_NAME = NAME;
