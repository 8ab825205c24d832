// Compiles, checks and suggests approval rules for hosts, paths and commands.
import {classEnd, compilePathPattern} from '../../core/glob.ts';
import {ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/cut.ts';
import {toUrl} from '../../core/text/parse.ts';
import type {ApprovalAction, ApprovalSubject, Tool} from '../../core/tool.ts';
import type {ApprovalRule} from '../../core/tool-host.ts';
import type {RuleFields} from './options.ts';
import {commandParts, compileCommandPrefix} from './shell-words.ts';

/**
 * A rule as the answer to a question: it must allow the call that was asked about, or of a command what no rule in
 * `beside` allows. The error is a sentence.
 */
export function checkRule(
  rule: RuleFields,
  tool: Pick<Tool, 'name' | 'action'>,
  subject: ApprovalSubject,
  beside: readonly CompiledRule[],
  isTainted: boolean,
): Result<CompiledRule, string> {
  const compiled = compileRule(rule, 'The rule');
  if (!compiled.ok) return {ok: false, error: compiled.error.join(' ')};
  // Review R10
  if (subject.exactOnly === true) {
    return {
      ok: false,
      error: 'No rule covers a call that sets variables. Allow it once, or this exact call.',
    };
  }
  if (isTainted && !compiled.value.isForTainted) {
    return {ok: false, error: 'The rule does not say tainted = true, so it does not allow this call.'};
  }
  const isAbout = rule.decision === 'allow' && compiled.value.isAbout(tool.name, tool.action, subject.kind);
  const before = ruleCoverage(subject, beside);
  const adds = before.isCovered || before.open.some(compiled.value.matches);
  const covers = isAbout && adds && ruleCoverage(subject, [compiled.value, ...beside]).isCovered;
  return covers ? ok(compiled.value) : {ok: false, error: 'The rule does not allow this call.'};
}

/** A rule that passed its own examples. */
export interface CompiledRule {
  /** What decisions call it: `tools.approval.rules[2]`. */
  readonly name: string;
  readonly decision: RuleFields['decision'];
  readonly reason: string;
  /** T1: it allows tainted calls too. */
  readonly isForTainted: boolean;
  readonly isAbout: (
    tool: string,
    action: ApprovalAction | undefined,
    kind: ApprovalSubject['kind'],
  ) => boolean;
  readonly matches: (value: string) => boolean;
}

interface Matcher {
  readonly key: 'host' | 'path' | 'command_prefix';
  readonly kind: ApprovalSubject['kind'];
  readonly compile: (
    pattern: string,
    decision: RuleFields['decision'],
  ) => Result<(value: string) => boolean, string>;
}

const MATCHERS: readonly Matcher[] = [
  {key: 'host', kind: 'url', compile: compileHostPattern},
  {key: 'path', kind: 'path', compile: compilePathGlob},
  {key: 'command_prefix', kind: 'command', compile: compileCommandPrefix},
];

/** The error is everything that is wrong with the rule, its own examples included. */
export function compileRule(rule: RuleFields, name: string): Result<CompiledRule, readonly string[]> {
  const {match = [], not_match = [], reason = ''} = rule;
  const written = MATCHERS.flatMap(matcher => {
    const pattern = rule[matcher.key] ?? '';
    return pattern.trim() === '' ? [] : [{...matcher, pattern}];
  });
  const [matcher] = written;
  // A misspelt key is only a warning (ruling A9) and must not leave a rule that matches everything.
  if (matcher === undefined || written.length > 1) {
    return wrong(`${name} needs exactly one of host, path and command_prefix, and has ${written.length}.`);
  }
  if (rule.tool === '') return wrong(`${name}.tool is empty. Write a tool, an action, or "*".`);
  const {key, kind, compile, pattern} = matcher;
  const compiled = compile(pattern, rule.decision);
  if (!compiled.ok) return wrong(`${name}.${key} = ${JSON.stringify(pattern)} ${compiled.error}.`);
  const matches = compiled.value;
  const failed = [
    ...match.filter(example => !matches(example)).map(example => [example, 'match'] as const),
    ...not_match.filter(matches).map(example => [example, 'not_match'] as const),
  ];
  if (failed.length > 0) {
    return wrong(
      ...failed.map(([example, list]) => {
        const does = list === 'match' ? 'does not match' : 'matches';
        return `${name} ${does} ${JSON.stringify(example)}, which its ${list} lists. Correct ${key}, or the example.`;
      }),
    );
  }
  return ok({
    name,
    decision: rule.decision,
    reason,
    isForTainted: rule.decision === 'allow' && rule.tainted === true,
    isAbout: (tool, action, subject) =>
      subject === kind && (rule.tool === '*' || rule.tool === tool || rule.tool === action),
    matches,
  });
}

function wrong(...problems: readonly string[]): Result<never, readonly string[]> {
  return {ok: false, error: problems};
}

/**
 * `example.com` is that host only, `.example.com` every host below it, as in `js_heavy_domains`.
 * Hosts are compared as WHATWG prints them, so that case, IDN and a trailing dot make no difference.
 */
export function compileHostPattern(pattern: string): Result<(url: string) => boolean, string> {
  const below = pattern.startsWith('.');
  const name = below ? pattern.slice(1) : pattern;
  if (name.includes('*')) return {ok: false, error: 'has "*"; write .example.com for all hosts below it'};
  if (/[/\\?#@\s]/.test(name) || /:\d*$/.test(name.replace(/^\[[^\]]*\]/, ''))) {
    return {ok: false, error: 'is more than a host; leave scheme, port and path out'};
  }
  const host = hostOf(`http://${name}/`);
  if (host === undefined || host === '') return {ok: false, error: 'is no host name'};
  return ok(url => {
    const actual = hostOf(url);
    if (actual === undefined) return false;
    return below ? actual.endsWith(`.${host}`) : actual === host;
  });
}

function hostOf(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}

/**
 * Ruling W2: a gitignore-style pattern, exact in case, for paths with `/`. A pattern that matches a
 * directory matches everything below it. The error is what is wrong with the pattern.
 */
export function compilePathGlob(pattern: string): Result<(path: string) => boolean, string> {
  if (pattern.startsWith('!')) return wrongPattern('starts with "!"; write a rule that says the opposite');
  const body = pattern.replace(/\/+$/, '');
  if (body.replaceAll('/', '') === '') return wrongPattern('matches nothing; write ** for everything');
  const odd = body
    .replace(/^\//, '')
    .split('/')
    .find(name => ['', '.', '..'].includes(name));
  if (odd !== undefined) return wrongPattern(`has the segment "${odd}"`);
  if (hasBrace(body))
    return wrongPattern('has "{"; write one rule for each alternative, or \\{ for the character');
  const compiled = compilePathPattern(body);
  if (!compiled.ok) return compiled;
  return ok(path => compiled.value.covers(namesOf(path)));
}

function hasBrace(pattern: string): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    if (pattern[at] === '{') return true;
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === '[') at = classEnd(pattern, at);
  }
  return false;
}

/** `./a//b/` is `a/b`, and `.` is the root, of which only `**` holds. */
function namesOf(path: string): readonly string[] {
  return path.split('/').filter(name => name !== '' && name !== '.');
}

function wrongPattern(reason: string): Result<never, string> {
  return {ok: false, error: reason};
}

/**
 * The narrowest rule that covers the call: its host, its one path, its command, or the one part of its command that
 * no rule in `beside` covers.
 */
export function suggestRule(
  tool: string,
  subject: ApprovalSubject,
  beside: readonly CompiledRule[] = [],
  isTainted = false,
): ApprovalRule | undefined {
  const coverage = ruleCoverage(subject, beside);
  const [value, ...more] = coverage.isCovered ? subject.values : coverage.open;
  if (value === undefined || more.length > 0) return undefined;
  const matcher = matcherOf(subject.kind, value);
  if (matcher === undefined) return undefined;
  const rule: ApprovalRule = {
    tool,
    decision: 'allow',
    // A query is no example to keep.
    ...(subject.kind !== 'url' && {match: [value]}),
    ...(isTainted && {tainted: true}),
    ...matcher,
  };
  // A command with operators, for one, has no rule.
  const compiled = compileRule(rule, 'rule');
  return compiled.ok && compiled.value.matches(value) ? rule : undefined;
}

function matcherOf(kind: ApprovalSubject['kind'], value: string) {
  switch (kind) {
    case 'url':
      return hostMatcher(toUrl(value));
    case 'path':
      return {path: `/${value.replace(/[\\*?[{]/g, '\\$&')}`};
    case 'command':
      return {command_prefix: value.trim()};
  }
}

function hostMatcher(url: URL | undefined) {
  return url && {host: url.hostname};
}

const MOST_NAMED = 5;
const LONGEST_NAME = 120;

type RuleCoverage =
  | {readonly isCovered: true; readonly by: CompiledRule}
  | {
      readonly isCovered: false;
      /** What no rule matches, each once; empty where it cannot be told. */
      readonly open: readonly string[];
      /** A sentence about a command that is covered in part, or that no rule could cover. */
      readonly why: string | undefined;
    };

/**
 * Whether `allow` rules cover a call: each of its values and, of a command, each of its parts, by whichever rule.
 * Review R10: no rule covers a call that brings what no rule looks at.
 */
export function ruleCoverage(
  {kind, values, exactOnly}: ApprovalSubject,
  rules: readonly CompiledRule[],
): RuleCoverage {
  if (exactOnly === true) return {isCovered: false, open: [], why: undefined};
  const all: string[] = [];
  for (const value of values) {
    const parts = kind === 'command' ? commandParts(value) : undefined;
    if (parts?.ok === false) return {isCovered: false, open: [], why: refusal(parts.error, rules)};
    all.push(...(parts?.value ?? [value]));
  }
  const matched = all.map(value => rules.find(rule => rule.matches(value)));
  const [by] = matched;
  if (by !== undefined && !matched.includes(undefined)) return {isCovered: true, by};
  const open = [...new Set(all.filter((_, at) => matched[at] === undefined))];
  const covered = [...new Set(all.filter((_, at) => matched[at] !== undefined))];
  const isInParts = kind === 'command' && covered.length > 0;
  return {isCovered: false, open, why: isInParts ? inParts(open, covered) : undefined};
}

function refusal(problem: string, rules: readonly CompiledRule[]): string | undefined {
  // Where there is no rule, none is missed.
  return rules.length === 0 ? undefined : `No rule allows the command, since it ${problem}.`;
}

function inParts(open: readonly string[], covered: readonly string[]): string {
  const what = open.length === 1 ? 'matches' : 'match';
  return `${named(open)} ${what} no rule; ${named(covered)} alone would run.`;
}

function named(parts: readonly string[]): string {
  const shown = parts.slice(0, MOST_NAMED).map(part => `\`${takeStart(part, LONGEST_NAME)}\``);
  return `${shown.join(', ')}${parts.length > MOST_NAMED ? ' and others' : ''}`;
}
