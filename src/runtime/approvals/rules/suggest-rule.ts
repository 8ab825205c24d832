import {toUrl} from '../../../core/text/to-url.ts';
import type {ApprovalSubject} from '../../../core/tool.ts';
import type {ApprovalRule} from '../options.ts';
import {ruleCoverage} from '../rule-coverage.ts';
import {type CompiledRule, compileRule} from './compile-rule.ts';

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
    host: '',
    path: '',
    command_prefix: '',
    // A query is no example to keep.
    match: subject.kind === 'url' ? [] : [value],
    not_match: [],
    reason: '',
    ...(isTainted && {tainted: true}),
    ...matcher,
  };
  // A command with operators, for one, has no rule.
  const compiled = compileRule(rule, 'rule');
  return compiled.ok && compiled.value.matches(value) ? rule : undefined;
}

function matcherOf(kind: ApprovalSubject['kind'], value: string): Partial<ApprovalRule> | undefined {
  switch (kind) {
    case 'url':
      return hostMatcher(toUrl(value));
    case 'path':
      return {path: `/${value.replace(/[\\*?[{]/g, '\\$&')}`};
    case 'command':
      return {command_prefix: value.trim()};
  }
}

function hostMatcher(url: URL | undefined): Partial<ApprovalRule> | undefined {
  return url && {host: url.hostname};
}
