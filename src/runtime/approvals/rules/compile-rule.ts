import {ok, type Result} from '../../../core/result.ts';
import type {ApprovalAction, ApprovalSubject} from '../../../core/tool.ts';
import type {ApprovalRule} from '../options.ts';
import {compileCommandPrefix} from './command-prefix.ts';
import {compileHostPattern} from './host-pattern.ts';
import {compilePathGlob} from './path-glob.ts';

/** A rule that passed its own examples. */
export interface CompiledRule {
  /** What decisions call it: `tools.approval.rules[2]`. */
  readonly name: string;
  readonly decision: ApprovalRule['decision'];
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
    decision: ApprovalRule['decision'],
  ) => Result<(value: string) => boolean, string>;
}

const MATCHERS: readonly Matcher[] = [
  {key: 'host', kind: 'url', compile: compileHostPattern},
  {key: 'path', kind: 'path', compile: compilePathGlob},
  {key: 'command_prefix', kind: 'command', compile: compileCommandPrefix},
];

/** The error is everything that is wrong with the rule, its own examples included. */
export function compileRule(rule: ApprovalRule, name: string): Result<CompiledRule, readonly string[]> {
  const written = MATCHERS.filter(({key}) => rule[key].trim() !== '');
  const [matcher] = written;
  // A misspelt key is only a warning (ruling A9) and must not leave a rule that matches everything.
  if (matcher === undefined || written.length > 1) {
    return wrong(`${name} needs exactly one of host, path and command_prefix, and has ${written.length}.`);
  }
  if (rule.tool === '') return wrong(`${name}.tool is empty. Write a tool, an action, or "*".`);
  const {key, kind, compile} = matcher;
  const compiled = compile(rule[key], rule.decision);
  if (!compiled.ok) return wrong(`${name}.${key} = ${JSON.stringify(rule[key])} ${compiled.error}.`);
  const matches = compiled.value;
  const failed = [
    ...rule.match.filter(example => !matches(example)).map(example => [example, 'match'] as const),
    ...rule.not_match.filter(matches).map(example => [example, 'not_match'] as const),
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
    reason: rule.reason,
    isForTainted: rule.decision === 'allow' && rule.tainted === true,
    isAbout: (tool, action, subject) =>
      subject === kind && (rule.tool === '*' || rule.tool === tool || rule.tool === action),
    matches,
  });
}

function wrong(...problems: readonly string[]): Result<never, readonly string[]> {
  return {ok: false, error: problems};
}
