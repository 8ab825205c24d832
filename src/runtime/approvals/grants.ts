import type {ApprovalAction, ApprovalSubject} from '../../core/tool.ts';
import {ruleCoverage} from './rule-coverage.ts';
import type {CompiledRule} from './rules/compile-rule.ts';

/** What allows a call. */
export interface Grant {
  /** For the log. */
  readonly by: 'session grant' | 'session rule';
  /** Of this very call on the files as they were, and not of all that a rule covers. */
  readonly isOfCall: boolean;
}

/** What the approver allowed for the rest of a session. In memory: a restarted session asks again. */
export class Grants {
  readonly #calls = new Set<string>();
  readonly #rules: {readonly rule: CompiledRule; readonly answered: string}[] = [];

  allowCall(hash: string): void {
    this.#calls.add(hash);
  }

  /** `answered` is the setting or rule because of which somebody was asked. */
  allowByRule(rule: CompiledRule, answered: string): void {
    this.#rules.push({rule, answered});
  }

  rulesAbout(
    tool: string,
    action: ApprovalAction | undefined,
    kind: ApprovalSubject['kind'],
    /** Only those that were given in answer to this. */
    answered?: string,
  ): readonly CompiledRule[] {
    return this.#rules
      .filter(given => answered === undefined || given.answered === answered)
      .map(({rule}) => rule)
      .filter(rule => rule.isAbout(tool, action, kind));
  }

  /**
   * A grant answers an `ask`; it never meets a `deny`. Rules of the configuration may cover other parts of a command
   * than those of the session do, where no rule asks: what asks is answered by somebody and not by them. Nor is it by
   * a rule of the session that answered another question: whoever writes `ask` wants to be asked about that.
   */
  find(
    hash: string,
    tool: string,
    action: ApprovalAction | undefined,
    subject: ApprovalSubject,
    configured: readonly CompiledRule[],
    askedBy?: string,
  ): Grant | undefined {
    if (this.#calls.has(hash)) return {by: 'session grant', isOfCall: true};
    const rules = [...this.rulesAbout(tool, action, subject.kind, askedBy), ...configured];
    return ruleCoverage(subject, rules).isCovered ? {by: 'session rule', isOfCall: false} : undefined;
  }
}
