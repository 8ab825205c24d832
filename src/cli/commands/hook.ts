// `hook`: decides about a call of another host's own tools by the rules, paths and addresses that hold for ours.
import {realpath} from 'node:fs/promises';
import {isAbsolute, relative, resolve, sep} from 'node:path';
import {text} from 'node:stream/consumers';
import type {Toolbox} from '../../create-toolbox.ts';
import {shellWords} from '../client-settings.ts';
import {type CommandContext, defineCommand, EXIT, type ExitCode} from '../command.ts';
import {printable} from '../console.ts';
import {UsageError, type ValuesOf} from '../flags.ts';
import {
  addressesIn,
  CAN_REWRITE,
  type Effect,
  HOOK_HOSTS,
  type HookEvent,
  type HookHost,
  type HookVerdict,
  hookAnswer,
  readHookEvent,
  UnreadableEvent,
} from '../host-hooks.ts';
import {openToolbox} from '../open-toolbox.ts';
import {SESSION_FLAGS} from '../session-flags.ts';

/** Hosts take no other exit code for a refusal. */
const BLOCK = 2;

const PASS: HookVerdict = {decision: 'pass', reason: ''};
const STRICTNESS = {pass: 0, ask: 1, deny: 2} as const;

// biome-ignore format: a flag is a line
const FLAGS = {
  commands: {type: 'string', value: 'HOW', choices: ['check', 'sandbox'], help: 'check the commands of the host, or have it run them by "forge-tools exec". Default: check.'},
  unknown: {type: 'string', value: 'WHAT', choices: ['ask', 'pass', 'deny'], help: 'What becomes of a call of a tool that forge-tools does not know. Default: ask.'},
  workspace: SESSION_FLAGS.workspace,
  profile: SESSION_FLAGS.profile,
  config: SESSION_FLAGS.config,
  'log-level': SESSION_FLAGS['log-level'],
} as const;

type Values = ValuesOf<typeof FLAGS>;

export const hookCommand = defineCommand({
  usage: `(${HOOK_HOSTS.join(' | ')})`,
  takes: [
    ({0: host, length}) => length === 1 && HOOK_HOSTS.some(known => known === host),
    `hook takes one host: ${HOOK_HOSTS.join(', ')}.`,
  ],
  flags: FLAGS,
  examples: [
    'forge-tools hook claude-code --workspace ~/project',
    'forge-tools hook claude-code --commands sandbox',
  ],
  async run({values, args: [host], ...context}) {
    // Hosts run a call whose hook ends in any other way.
    try {
      return await answer(host as HookHost, values, context);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      const advice = error instanceof UnreadableEvent ? ` Is "${host}" the host that calls this hook?` : '';
      context.console.err(`forge-tools hook: ${printable(message)}${advice} The call is refused.\n`);
      return BLOCK;
    }
  },
});

async function answer(host: HookHost, values: Values, context: CommandContext): Promise<ExitCode> {
  const {console} = context;
  if (values.commands === 'sandbox' && !CAN_REWRITE.has(host)) {
    throw new UsageError(`${host} does not let a hook change a command. Leave out --commands sandbox.`);
  }
  const event = readHookEvent(host, await text(console.input));
  const verdict = event.isBeforeCall ? await decide(event, values, context) : PASS;
  const {stdout, stderr, code} = hookAnswer(host, verdict);
  await console.out(`${JSON.stringify(stdout)}\n`);
  if (stderr !== '') console.err(printable(stderr));
  return code === 0 ? EXIT.ok : code;
}

async function decide(
  {tool, effects, workspace, input, ...event}: HookEvent,
  {unknown = 'ask', commands, ...flags}: Values,
  context: CommandContext,
): Promise<HookVerdict> {
  const {environment, program} = context;
  const {cwd = environment.cwd} = event;
  if (effects === undefined) {
    const reason = `forge-tools does not know what ${JSON.stringify(tool)} does. "--unknown pass" leaves such tools to the host.`;
    return {decision: unknown, reason};
  }
  if (effects.length === 0) return PASS;
  const root = resolve(environment.cwd, flags.workspace ?? workspace ?? cwd);
  const toolbox = await openToolbox({...flags, workspace: root}, context);
  try {
    const roots = [root, await realpath(root)];
    const verdicts = await Promise.all(effects.map(effect => judge(effect, {toolbox, roots, cwd})));
    const strictest = verdicts.reduce(stricter);
    const typed = effects.find(effect => effect.kind === 'command')?.command;
    if (commands !== 'sandbox' || typed === undefined || strictest.decision === 'deny') return strictest;
    const given = Object.entries(flags).flatMap(([name, value]) => {
      if (value === undefined || name === 'workspace') return [];
      return [`--${name}`, name === 'config' ? resolve(environment.cwd, value) : value];
    });
    const rewritten = shellWords([...program, 'exec', '--workspace', root, ...given, '--', typed]);
    const reason = strictest.reason === '' ? 'It runs in the sandbox of forge-tools.' : strictest.reason;
    return {...strictest, reason, input: {...input, command: rewritten}};
  } finally {
    await toolbox.close();
  }
}

function stricter(one: HookVerdict, other: HookVerdict): HookVerdict {
  return STRICTNESS[other.decision] > STRICTNESS[one.decision] ? other : one;
}

interface Place {
  readonly toolbox: Toolbox;
  /** As named, and without links. */
  readonly roots: readonly string[];
  readonly cwd: string;
}

async function judge(effect: Effect, place: Place): Promise<HookVerdict> {
  switch (effect.kind) {
    case 'fetch':
      return judgeAddress(effect.url, place);
    case 'command':
      return judgeCommand(effect.command, place);
    default:
      return judgePath(effect, place);
  }
}

/** What the policy says of such a call of ours. What it would only ask about by its mode, the host asks about. */
async function explained(
  tool: string,
  params: Parameters<Toolbox['explainPolicy']>[1],
  {toolbox}: Place,
): Promise<HookVerdict & {readonly code?: string}> {
  const found = await toolbox.explainPolicy(tool, params);
  if (!found.ok) return {decision: 'deny', reason: found.error.message, code: found.error.code};
  const {decision, by, reason} = found.value.verdict;
  if (decision === 'allow' || by === 'tools.approval.mode') {
    return decision === 'deny' ? {decision, reason} : PASS;
  }
  return {decision, reason};
}

/** Hosts and their users know ports of their own; what an address must not be is refused on each. */
async function judgeAddress(url: string, place: Place): Promise<HookVerdict> {
  const verdict = await explained('web_fetch', {url}, place);
  if (verdict.code !== 'port_blocked') return verdict;
  const plain = URL.parse(url);
  if (plain === null) return verdict;
  plain.port = '';
  const onUsualPort = await explained('web_fetch', {url: plain.href}, place);
  return {...verdict, decision: onUsualPort.decision === 'pass' ? 'ask' : onUsualPort.decision};
}

/** A number that is an address to programs such as curl, and `/dev/tcp` of bash. */
const BARE_ADDRESS = /(?<![\w./@-])(?:\/dev\/(?:tcp|udp)\/([^\s/]+)|(\d{1,3}(?:\.\d{1,3}){3})(?![\w.]))/g;
/** What a word of a command may be cut at. */
const WORD_ENDS = /[\s'"`=<>|;&(){},:]+/;

async function judgeCommand(command: string, place: Place): Promise<HookVerdict> {
  const verdicts = [await explained('run', {command}, place)];
  const bare = [...command.matchAll(BARE_ADDRESS)].map(([, device, number]) => `http://${device ?? number}/`);
  for (const url of new Set([...addressesIn(command), ...bare]))
    verdicts.push(await judgeAddress(url, place));
  for (const word of new Set(command.split(WORD_ENDS))) {
    if (!/[./]/.test(word)) continue;
    const within = belowRoot(word, place);
    if (within === undefined || within === '') continue;
    const {code, reason} = await explained('write_file', {path: within, content: ''}, place);
    if (code === 'path_escape') verdicts.push({decision: 'ask', reason});
  }
  return verdicts.reduce(stricter);
}

async function judgePath({kind, path}: Effect & {readonly path: string}, place: Place): Promise<HookVerdict> {
  const within = belowRoot(path, place);
  if (within === undefined) {
    if (kind === 'read') return PASS;
    return {decision: 'ask', reason: `${JSON.stringify(path)} lies outside ${place.roots[0]}.`};
  }
  if (kind === 'write') return explained('write_file', {path: within, content: ''}, place);
  const target = await realpath(resolve(place.cwd, path)).catch(() => undefined);
  if (target !== undefined && belowRoot(target, place) === undefined) {
    return {decision: 'ask', reason: `${JSON.stringify(path)} is a link to ${JSON.stringify(target)}.`};
  }
  const verdict = await explained('read_file', {path: within}, place);
  // What else keeps our tool from reading is for the host to say.
  return verdict.code === undefined ? verdict : PASS;
}

/** Relative to the workspace; `undefined` where it lies outside. */
function belowRoot(path: string, {roots, cwd}: Place): string | undefined {
  const absolute = resolve(cwd, path);
  return roots
    .map(root => relative(root, absolute))
    .find(within => within !== '..' && !within.startsWith(`..${sep}`) && !isAbsolute(within))
    ?.replaceAll(sep, '/');
}
