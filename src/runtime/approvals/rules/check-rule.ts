import {ok, type Result} from '../../../core/result.ts';
import type {ApprovalSubject, Tool} from '../../../core/tool.ts';
import type {ApprovalRule} from '../options.ts';
import {ruleCoverage} from '../rule-coverage.ts';
import {type CompiledRule, compileRule} from './compile-rule.ts';

/**
 * A rule as the answer to a question: it must allow the call that was asked about, or of a command what no rule in
 * `beside` allows. The error is a sentence.
 */
export function checkRule(
  rule: ApprovalRule,
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
