import type {ApprovalAction, ApprovalSubject} from '../../core/tool.ts';
import type {CompiledRule} from './compile-rule.ts';

/** What somebody allowed for the rest of a session. In memory: a restarted session asks again. */
export class Grants {
  readonly #calls = new Set<string>();
  readonly #rules: CompiledRule[] = [];

  allowCall(hash: string): void {
    this.#calls.add(hash);
  }

  allowByRule(rule: CompiledRule): void {
    this.#rules.push(rule);
  }

  /** What allows the call, or `undefined`. A grant answers an `ask`; it never meets a `deny`. */
  find(
    hash: string,
    tool: string,
    action: ApprovalAction | undefined,
    subject: ApprovalSubject,
  ): string | undefined {
    if (this.#calls.has(hash)) return 'session grant';
    const rules = this.#rules.filter(rule => rule.isAbout(tool, action, subject.kind));
    const covered =
      subject.values.length > 0 && subject.values.every(value => rules.some(rule => rule.matches(value)));
    return covered ? 'session rule' : undefined;
  }
}
