// `hook`: decides about a call of another host's own tools by the rules, paths and addresses that hold for ours.
import {realpath} from 'node:fs/promises';
import {basename, dirname, isAbsolute, join, relative, resolve, sep} from 'node:path';
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
    const verdicts = await Promise.all(
      effects.map(effect => judge(effect, {toolbox, roots, cwd, home: environment.homeDir})),
    );
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
  readonly home: string;
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
/** Other schemes go to a host as well: `ssh://git@HOST/`. */
const OTHER_ADDRESS =
  /\b(?!https?:)[a-z][a-z0-9+.-]{0,30}:\/\/(?:[^\s'"`<>|;&()\\/@]*@)?(\[[^\]\s]*\]|[^\s'"`<>|;&()\\/:@]+)/gi;
/** Hosts as `ssh`, `curl` and others take them: `me@HOST`, `HOST:port/path`. */
const TO_HOST =
  /\b(curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|ftp|rsync|socat|http|https|xh|git)(?=\s)([^;|&\n]*)/g;
const HOST =
  /^(?:[^\s@/]*@)?(localhost|[\w-]+\.localhost|\d{1,3}(?:\.\d{1,3}){1,3}|0x[\da-f]+|\d{6,10}|\[[\da-f:.]+\])(?=[:/?#]|$)/i;
/** What a word of a command may be cut at. */
const WORD_ENDS = /[\s'"`=<>|;&(){},:]+/;
/** A file that a shell opens for writing. */
const REDIRECTED = /(?<![-=])>[>|]?\s*(?![&>|])([^\s;|&<>()]+)/g;
/** `.venv/bin/python` is a link out of the workspace, and nothing is written to it. */
const PROGRAM = /(?:^|[;&|(\n])[ \t]*([^\s;&|()]+)/g;
/** Of all these, a command can name as many as it likes. */
const MOST_NAMES = 200;

/** As a shell reads it, without its quotes, and as it is written. */
function readings(command: string): readonly string[] {
  const joined = command.replaceAll('\\\n', '');
  return [command, joined.replace(/\\(?=\S)|["']/g, '')];
}

function hostsIn(command: string): readonly string[] {
  const bare = [...command.matchAll(BARE_ADDRESS)].map(([, device, number]) => device ?? number ?? '');
  const others = [...command.matchAll(OTHER_ADDRESS)].map(([, host]) => host ?? '');
  const named = [...command.matchAll(TO_HOST)]
    .flatMap(([, program, words = '']) =>
      words.split(/\s+/).filter(word => program !== 'git' || word.includes('@')),
    )
    .map(word => HOST.exec(word)?.[1] ?? '');
  return [...bare, ...others, ...named].filter(host => host !== '').map(host => `http://${host}/`);
}

async function judgeCommand(command: string, place: Place): Promise<HookVerdict> {
  const texts = readings(command);
  const urls = new Set(texts.flatMap(text => [...addressesIn(text), ...hostsIn(text)]));
  const written = new Set(
    texts.flatMap(text =>
      [...text.matchAll(REDIRECTED)].map(([, path = '']) => path.replace(/^~(?=\/)/, place.home)),
    ),
  );
  const named = texts
    .flatMap(text => text.split(WORD_ENDS))
    .filter(word => /[./]/.test(word) && !['', undefined].includes(belowRoot(word, place)));
  const names = new Set(named);
  if (urls.size + written.size + names.size > MOST_NAMES) {
    return {decision: 'ask', reason: `The command names more than ${MOST_NAMES} files and addresses.`};
  }
  const verdicts = [await explained('run', {command}, place)];
  for (const url of urls) verdicts.push(await judgeAddress(url, place));
  for (const path of written) {
    if (/^\/dev\/(?:null|std(?:out|err)|tty|fd\/\d+)$/.test(path) || /[$"'\\]/.test(path)) continue;
    const verdict = await judgePath({kind: 'write', path}, place);
    // A tool of ours would be refused. A shell may have its reasons, which a person knows.
    const isPlace = verdict.code === 'path_escape' || verdict.code === 'symlink_blocked';
    verdicts.push(isPlace ? await judgeName(path, place) : verdict);
  }
  const programs = new Set([...command.matchAll(PROGRAM)].map(([, program]) => program));
  for (const name of names) {
    if (!programs.has(name)) verdicts.push(await judgeName(name, place));
  }
  return verdicts.reduce(stricter);
}

/** A file that a command may write: one that no tool of ours would write to is asked about. */
async function judgeName(name: string, place: Place): Promise<HookVerdict> {
  const path = belowRoot(name, place) ?? '';
  const {code, reason} = await explained('write_file', {path, content: ''}, place);
  if (code === 'path_escape') return {decision: 'ask', reason};
  if (code !== 'symlink_blocked') return PASS;
  const target = await targetOf(resolve(place.cwd, name));
  const within = belowRoot(target, place);
  if (within === undefined) {
    return {decision: 'ask', reason: `${JSON.stringify(name)} leads to ${JSON.stringify(target)} by a link.`};
  }
  const ofTarget = await explained('write_file', {path: within, content: ''}, place);
  return ofTarget.code === 'path_escape' ? {decision: 'ask', reason: ofTarget.reason} : PASS;
}

/** Without links, as far as it is there. */
async function targetOf(path: string): Promise<string> {
  const known = await realpath(path).catch(() => undefined);
  return known ?? (dirname(path) === path ? path : join(await targetOf(dirname(path)), basename(path)));
}

async function judgePath(
  {kind, path}: Effect & {readonly path: string},
  place: Place,
): Promise<HookVerdict & {readonly code?: string}> {
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
