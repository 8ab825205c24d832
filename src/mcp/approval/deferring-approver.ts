import type {ApprovalAnswer, ApprovalQuestion, Approver} from '../../core/tool-host.ts';

export interface GivenAnswer {
  readonly digest: string;
  /** `undefined` where it cannot be read. */
  readonly read: (question: ApprovalQuestion) => ApprovalAnswer | undefined;
  /** True the first time: what was allowed once does not hold for a call that is sent twice. */
  readonly redeem: () => boolean;
}

/**
 * Revision 2026-07-28: the server cannot ask while a call waits. The first call is cancelled at its
 * question, before any side effect; the client answers by calling again.
 */
export class DeferringApprover implements Approver {
  readonly #given: GivenAnswer | undefined;
  readonly #digestOf: (question: ApprovalQuestion) => string;
  readonly #controller = new AbortController();
  #open: {readonly question: ApprovalQuestion; readonly digest: string} | undefined;

  constructor(digestOf: (question: ApprovalQuestion) => string, given: GivenAnswer | undefined) {
    this.#digestOf = digestOf;
    this.#given = given;
  }

  /** Fires when there is a question to hand out; the call must be made with it. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What the client has to answer, if anything. The result of the call is then void. */
  get open(): {readonly question: ApprovalQuestion; readonly digest: string} | undefined {
    return this.#open;
  }

  readonly ask = async (question: ApprovalQuestion): Promise<ApprovalAnswer> => {
    const digest = this.#digestOf(question);
    // An answer to what was shown before is no answer to what would be shown now.
    const given = this.#given?.digest === digest ? this.#given : undefined;
    const answer = given?.read(question);
    if (answer !== undefined && given?.redeem()) return answer;
    this.#open = {question, digest};
    this.#controller.abort();
    return {answer: 'refuse', reason: 'the client is asked first'};
  };
}
