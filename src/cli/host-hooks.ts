// Reads the hook events of agent hosts, and writes the answers that they understand. One table says what each of a
// host's own tools does.
import {SERVER_NAME} from './clients.data.ts';

export const HOOK_HOSTS = ['claude-code', 'codex', 'gemini-cli', 'cursor'] as const;
export type HookHost = (typeof HOOK_HOSTS)[number];

/** What a call of a host's tool would do. Paths and addresses as the host wrote them. */
export type Effect =
  | {readonly kind: 'command'; readonly command: string}
  | {readonly kind: 'fetch'; readonly url: string}
  | {readonly kind: 'write' | 'read'; readonly path: string};

/** An event of a host, in our terms. */
export interface HookEvent {
  /** Other events pass. */
  readonly isBeforeCall: boolean;
  readonly tool: string;
  /** `undefined` for a tool that nobody has told us about. */
  readonly effects: readonly Effect[] | undefined;
  readonly workspace: string | undefined;
  readonly cwd: string | undefined;
  readonly input: Table;
}

type Table = Readonly<Record<string, unknown>>;
type Meaning = (input: Table) => readonly Effect[];

/** Why an event cannot be read. */
export class UnreadableEvent extends Error {}

function word(input: Table, ...names: readonly string[]): string {
  for (const name of names) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (typeof value === 'string') return value;
    if (Array.isArray(value) && value.every(part => typeof part === 'string')) return value.join(' ');
  }
  throw new UnreadableEvent(`The call has no ${names[0]}.`);
}

const command: Meaning = input => [{kind: 'command', command: word(input, 'command', 'cmd')}];
const write: Meaning = input => [{kind: 'write', path: word(input, 'file_path', 'path', 'notebook_path')}];
const read: Meaning = input => [{kind: 'read', path: word(input, 'file_path', 'path', 'absolute_path')}];
const harmless: Meaning = () => [];

const PATCHED_FILE = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm;
const ADDRESS = /\bhttps?:\/\/[^\s'"`<>|;&()\\]+/gi;

export function addressesIn(text: string): readonly string[] {
  return [...text.matchAll(ADDRESS)].map(([url]) => url);
}

function patchedFiles(input: Table): readonly Effect[] {
  const files = [...word(input, 'command', 'input', 'patch').matchAll(PATCHED_FILE)];
  if (files.length === 0) throw new UnreadableEvent('The patch names no file.');
  return files.map(([, path = '']) => ({kind: 'write', path: path.trim()}));
}

/** A prompt of Gemini CLI may name several addresses, and none. */
function fetched(input: Table): readonly Effect[] {
  const text = word(input, 'url', 'prompt');
  const urls = Object.hasOwn(input, 'url') ? [text] : addressesIn(text);
  return urls.map(url => ({kind: 'fetch', url}));
}

/** The hosts' own tools, as their documentations of November 2026 name them. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ...names(command, 'Bash Shell run_shell_command shell exec_command'),
  ...names(write, 'Write Edit MultiEdit NotebookEdit StrReplace Delete write_file replace edit'),
  ...names(patchedFiles, 'apply_patch'),
  ...names(read, 'Read NotebookRead read_file view_image'),
  ...names(fetched, 'WebFetch web_fetch'),
  ...names(
    harmless,
    'Glob Grep LS WebSearch Task Agent TodoWrite TaskCreate TaskUpdate TaskGet TaskList TaskOutput TaskStop ' +
      'BashOutput KillShell KillBash AskUserQuestion EnterPlanMode ExitPlanMode Skill SlashCommand ToolSearch ' +
      'glob grep_search search_file_content list_directory read_many_files google_web_search write_todos update_plan',
  ),
]);

function names(meaning: Meaning, tools: string): readonly (readonly [string, Meaning])[] {
  return tools.split(' ').map(tool => [tool, meaning]);
}

/** Events before a call, by the hosts' names. */
const BEFORE_CALL: ReadonlySet<unknown> = new Set(['PreToolUse', 'BeforeTool', 'preToolUse']);

/** Throws `UnreadableEvent`, whose message is for the one who set up the hook. */
export function readHookEvent(host: HookHost, text: string): HookEvent {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    throw new UnreadableEvent('Standard input is not JSON.');
  }
  if (!isTable(event)) throw new UnreadableEvent('The event is not a JSON object.');
  const name = event['hook_event_name'];
  if (typeof name !== 'string') throw new UnreadableEvent('The event has no hook_event_name.');
  const roots = event['workspace_roots'];
  const about = {
    cwd: textOf(event['cwd']),
    workspace: Array.isArray(roots) ? textOf(roots[0]) : undefined,
  };
  if (host === 'cursor') {
    if (name === 'beforeShellExecution')
      return {...about, isBeforeCall: true, tool: 'Shell', input: event, effects: command(event)};
    if (name === 'beforeReadFile')
      return {...about, isBeforeCall: true, tool: 'Read', input: event, effects: read(event)};
  }
  if (!BEFORE_CALL.has(name) && name !== 'beforeMCPExecution') {
    return {...about, isBeforeCall: false, tool: name, input: {}, effects: []};
  }
  const tool = event['tool_name'];
  if (typeof tool !== 'string') throw new UnreadableEvent('The event has no tool_name.');
  const input = isTable(event['tool_input']) ? event['tool_input'] : {};
  // A tool of another MCP server may have the name of one of the host's own.
  const meaning = isOurs(tool, event) ? harmless : BEFORE_CALL.has(name) ? MEANINGS.get(tool) : undefined;
  return {...about, isBeforeCall: true, tool, input, effects: meaning?.(input)};
}

/** Calls of our own server are checked where they run. */
function isOurs(tool: string, {command: started}: Table): boolean {
  if (tool.startsWith(`mcp__${SERVER_NAME}__`)) return true;
  return typeof started === 'string' && new RegExp(`\\b${SERVER_NAME}\\b.*\\bmcp\\b`).test(started);
}

/** What becomes of the call. `pass`: the host decides by its own settings. */
export interface HookVerdict {
  readonly decision: 'pass' | 'ask' | 'deny';
  readonly reason: string;
  /** The call with another command. */
  readonly input?: Table | undefined;
}

interface HookAnswer {
  readonly stdout: Table;
  readonly stderr: string;
  /** 2 is what every host takes for a refusal, whatever it makes of the JSON. */
  readonly code: 0 | 2;
}

/** Hosts that run a call when they are told to ask, or that know no such answer. There it is refused. */
const CANNOT_ASK: ReadonlySet<HookHost> = new Set(['codex', 'gemini-cli']);

export const CAN_REWRITE: ReadonlySet<HookHost> = new Set(['claude-code', 'gemini-cli']);

export function hookAnswer(host: HookHost, {decision: wanted, reason, input}: HookVerdict): HookAnswer {
  const decision = wanted === 'ask' && CANNOT_ASK.has(host) ? 'deny' : wanted;
  const why = decision === wanted ? reason : `${reason} This host cannot ask you, so the call is refused.`;
  const refusal =
    decision === 'deny' ? ({stderr: `${why}\n`, code: 2} as const) : ({stderr: '', code: 0} as const);
  switch (host) {
    case 'cursor': {
      const permission = decision === 'pass' ? 'allow' : decision;
      const messages = decision === 'pass' ? {} : {user_message: why, agent_message: why};
      return {...refusal, stdout: {permission, ...messages}};
    }
    case 'gemini-cli': {
      const said = decision === 'deny' ? {decision, reason: why} : {};
      return {...refusal, stdout: {...said, ...(input && {hookSpecificOutput: {tool_input: input}})}};
    }
    default: {
      if (decision === 'pass' && input === undefined) return {...refusal, stdout: {}};
      const hookSpecificOutput = {
        hookEventName: 'PreToolUse',
        // A command that was put into the sandbox needs no question of the host.
        permissionDecision: decision === 'pass' ? 'allow' : decision,
        permissionDecisionReason: why,
        ...(input && {updatedInput: input}),
      };
      return {...refusal, stdout: {hookSpecificOutput}};
    }
  }
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
