// What a run keeps of one client: its queue, and what its user has granted.
import {setMaxListeners} from 'node:events';
import type {ApprovalAction, ApprovalSubject} from '../core/tool.ts';
import {type CompiledRule, ruleCoverage} from './approvals/rules.ts';

/** What a run keeps of one client. None of it holds for another client of the same run. */
export class Client {
  /** What its user allowed for later calls too. */
  readonly grants: Grants;
  /** Its questions are asked one at a time; nobody else waits for its answers. */
  readonly questions = new OneAtATime();
  readonly #ofRun: AbortSignal;
  readonly #controller = new AbortController();
  readonly #steps: Set<number> | undefined;
  #signal: AbortSignal | undefined;
  #stopped: string | undefined;

  /** The only client of a run (`isAlone`) owns every step, those of an earlier process too. */
  constructor(ofRun: AbortSignal, kept: Grants, isAlone: boolean) {
    this.#ofRun = ofRun;
    this.grants = new Grants(kept);
    this.#steps = isAlone ? undefined : new Set();
  }

  /** Set by `stop`: why no further call of this client is run. */
  get stopped(): string | undefined {
    return this.#stopped;
  }

  /** Fires with `stop`, and when the run is closed. Made when it is needed, as most calls leave nothing running. */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#signal = AbortSignal.any([this.#ofRun, this.#controller.signal]);
      // One listener for each command in the background.
      setMaxListeners(0, this.#signal);
    }
    return this.#signal;
  }

  stop(reason: string): void {
    this.#stopped ??= reason;
    this.#controller.abort();
  }

  made(step: number): void {
    this.#steps?.add(step);
  }

  /** Whether a tool may mean this step where its caller names none. */
  owns(step: number): boolean {
    return this.#steps?.has(step) ?? true;
  }
}

/** What allows a call. */
export interface Grant {
  /** For the log. */
  readonly by: 'session grant' | 'session rule';
  /** Of this very call on the files as they were, and not of all that a rule covers. */
  readonly isOfCall: boolean;
}

/** What the user of one client allowed for the rest of a session. In memory: a restarted session asks again. */
export class Grants {
  /** Whether each was given in answer to a question about a tainted call. */
  readonly #calls = new Map<string, boolean>();
  readonly #rules: {readonly rule: CompiledRule; readonly answered: string}[] = [];
  readonly #ofAll: Grants | undefined;

  /** `ofAll` has the rules that hold for every client, as the configuration does. */
  constructor(ofAll?: Grants) {
    this.#ofAll = ofAll;
  }

  allowCall(hash: string, isTainted = false): void {
    this.#calls.set(hash, isTainted || this.#calls.get(hash) === true);
  }

  /** `answered` is the setting or rule because of which somebody was asked. A kept rule is in the configuration. */
  allowByRule(rule: CompiledRule, answered: string, isKept = false): void {
    const grants = isKept && this.#ofAll !== undefined ? this.#ofAll : this;
    grants.#rules.push({rule, answered});
  }

  rulesAbout(
    tool: string,
    action: ApprovalAction | undefined,
    kind: ApprovalSubject['kind'],
    /** Only those that were given in answer to this. */
    answered?: string,
  ): readonly CompiledRule[] {
    return (this.#ofAll === undefined ? this.#rules : [...this.#rules, ...this.#ofAll.#rules])
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

/** Runs pieces of work one after the other, in the order in which they came. */
class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  run<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}
