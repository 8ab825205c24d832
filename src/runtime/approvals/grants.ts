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
  /** Whether each was given in answer to a question about a tainted call. */
  readonly #calls = new Map<string, boolean>();
  readonly #rules: {readonly rule: CompiledRule; readonly answered: string}[] = [];

  allowCall(hash: string, isTainted = false): void {
    this.#calls.set(hash, isTainted || this.#calls.get(hash) === true);
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
   * a rule of the session that answered another question: whoever writes `ask` wants to be asked about that. T1: of a
   * tainted call only by what was given for one.
   */
  find(
    hash: string,
    tool: string,
    action: ApprovalAction | undefined,
    subject: ApprovalSubject,
    configured: readonly CompiledRule[],
    askedBy: string | undefined,
    isTainted: boolean,
  ): Grant | undefined {
    const given = this.#calls.get(hash);
    if (given !== undefined && (given || !isTainted)) return {by: 'session grant', isOfCall: true};
    const rules = [...this.rulesAbout(tool, action, subject.kind, askedBy), ...configured];
    const holding = isTainted ? rules.filter(rule => rule.isForTainted) : rules;
    return ruleCoverage(subject, holding).isCovered ? {by: 'session rule', isOfCall: false} : undefined;
  }
}
