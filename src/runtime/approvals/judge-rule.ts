import {ok, type Result} from '../../core/result.ts';
import type {ApprovalSubject, Tool} from '../../core/tool.ts';
import {type CompiledRule, compileRule} from './compile-rule.ts';
import type {ApprovalRule} from './options.ts';

/** A rule as the answer to a question: it must allow the call that was asked about. The error is a sentence. */
export function judgeRule(
  rule: ApprovalRule,
  tool: Pick<Tool, 'name' | 'action'>,
  subject: ApprovalSubject,
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
  const {isAbout, matches} = compiled.value;
  const covers =
    rule.decision === 'allow' &&
    isAbout(tool.name, tool.action, subject.kind) &&
    subject.values.every(matches);
  return covers ? ok(compiled.value) : {ok: false, error: 'The rule does not allow this call.'};
}
