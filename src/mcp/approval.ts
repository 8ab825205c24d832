// Asks the user of an MCP client for an approval: the form, and how its answer is read.
import {createHash} from 'node:crypto';
import {
  type ElicitRequestFormParams,
  type InputResponseView,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {cutMiddle, takeStart} from '../core/text/cut.ts';
import {showInvisible} from '../core/text/invisible.ts';
import type {ToolRequest} from '../core/tool.ts';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type Approver,
  headOfQuestion,
} from '../core/tool-host.ts';

const LONGEST_PREVIEW = 4000;
const LONGEST_SUMMARY = 400;
const LONGEST_REASON = 500;
const LONGEST_RULE = 1000;

const CHOICES = {
  once: 'this call',
  session: 'this exact call until the session ends',
  'session-rule': 'what the rule covers, until the session ends',
  always: 'what the rule covers, kept in the configuration',
  refuse: 'not at all',
  stop: 'not at all, and no later call of the session',
} as const;

/**
 * The question as a form that every revision with elicitation can show: a choice and a line of text. A client that is
 * not recognized when it calls again is offered nothing that lasts for its session.
 */
export function approvalForm(question: ApprovalQuestion, isRecognized: boolean): ElicitRequestFormParams {
  const {tool, preview, by, reason} = question;
  const head = headOfQuestion(question);
  const shown = showInvisible(cutMiddle(preview, LONGEST_PREVIEW));
  // What a call brings along is quoted below everything that is ours, so that it cannot pass for it.
  const line = showInvisible(takeStart(head ?? '', LONGEST_SUMMARY)).replaceAll('\n', ' ');
  const quoted = [line, shown]
    .filter(text => text !== '')
    .join('\n')
    .replaceAll(/^/gm, '| ');
  const because = showInvisible(
    reason.includes(by) ? reason : `${by}${reason === '' ? '' : `: ${reason}`}`,
  ).replaceAll('\n', ' ');
  const offered = choicesOf(question, isRecognized);
  const rules = offered.filter(choice => choice === 'session-rule' || choice === 'always');
  const suggestion = rules.length === 0 ? undefined : suggestedPattern(question);
  const message = `Allow ${tool}?\nAsked because of ${because}\n\n${quoted}`;
  return {
    mode: 'form',
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description: offered.map(choice => `${choice}: ${CHOICES[choice]}.`).join(' '),
          enum: [...offered],
        },
        ...(suggestion !== undefined && {
          rule: {
            type: 'string' as const,
            title: 'Rule',
            description: `For ${rules.join(' and ')}: allow ${tool}${question.suggestedRule?.tainted === true ? ', also after untrusted text,' : ''} where ${suggestion.key} is this.`,
            default: suggestion.pattern,
            maxLength: LONGEST_RULE,
          },
        }),
        reason: {
          type: 'string',
          title: 'Reason',
          description: 'If you refuse or stop: the model gets to read it.',
          maxLength: LONGEST_REASON,
        },
      },
      required: ['decision'],
    },
  };
}

/** `undefined` where the client sent something that is no answer to the form. */
export function readApprovalAnswer(
  response: InputResponseView,
  question: ApprovalQuestion,
  isRecognized: boolean,
): ApprovalAnswer | undefined {
  if (response.kind !== 'elicit') return undefined;
  if (response.action !== 'accept') {
    return {answer: 'refuse', reason: declined(response.action, question.tool), unanswered: true};
  }
  const {decision, reason, rule} = response.content ?? {};
  const answer = choicesOf(question, isRecognized).find(choice => choice === decision);
  switch (answer) {
    case 'once':
    case 'session':
      return {answer};
    case 'session-rule':
    case 'always':
      return byRule(answer, rule, question);
    case 'refuse':
    case 'stop':
      return typeof reason === 'string' && reason.trim() !== ''
        ? {answer, reason: takeStart(reason.trim(), LONGEST_REASON)}
        : {answer};
    case undefined:
      return undefined;
  }
}

/** A rule that does not cover the call is no yes: whoever wrote it meant another call. */
function byRule(
  answer: 'session-rule' | 'always',
  written: unknown,
  question: ApprovalQuestion,
): ApprovalAnswer | undefined {
  const {suggestedRule, ruleProblem} = question;
  const suggestion = suggestedPattern(question);
  if (suggestedRule === undefined || suggestion === undefined) return undefined;
  const pattern = typeof written === 'string' ? written.trim() : '';
  const rule = pattern === '' ? suggestedRule : {...suggestedRule, [suggestion.key]: pattern};
  const problem = pattern.length > LONGEST_RULE ? 'The rule is too long.' : ruleProblem(rule);
  return problem === undefined
    ? {answer, rule}
    : {answer: 'refuse', reason: `the rule of the answer cannot be used: ${problem}`, unanswered: true};
}

function choicesOf(
  {suggestedRule, canRemember}: ApprovalQuestion,
  isRecognized: boolean,
): readonly (keyof typeof CHOICES)[] {
  const byRule = suggestedRule === undefined ? [] : (['session-rule'] as const);
  const kept = suggestedRule === undefined || !canRemember ? [] : (['always'] as const);
  return isRecognized
    ? ['once', 'session', ...byRule, ...kept, 'refuse', 'stop']
    : ['once', ...kept, 'refuse'];
}

function suggestedPattern({suggestedRule}: ApprovalQuestion) {
  const key = (['host', 'path', 'command_prefix'] as const).find(name => suggestedRule?.[name]);
  const pattern = key === undefined ? undefined : suggestedRule?.[key];
  // What could hide in a default is not put there.
  const isPlain =
    pattern !== undefined && pattern.length <= LONGEST_RULE && showInvisible(pattern) === pattern;
  return key !== undefined && isPlain ? {key, pattern} : undefined;
}

/** Identifies what was shown for which call: an answer holds for exactly this. */
export function questionDigest({tool, params}: ToolRequest, question: ApprovalQuestion): string {
  // The hash binds the files too: a preview may be the same for other contents.
  const {summary, preview, by, reason, hash} = question;
  return createHash('sha256')
    .update(JSON.stringify([tool, params, summary, preview, by, reason, hash]))
    .digest('hex');
}

function declined(action: 'decline' | 'cancel', tool: string): string {
  const word = action === 'decline' ? 'declined the question' : 'closed the question without an answer';
  return `the client ${word}, which may be its default and not a person; the operator can add "${tool}" to tools.approval.allowlist`;
}

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

/** People are slower than the 60 s that a request has by default. */
const PATIENCE_MS = 600_000;

/** Asks the client while the call waits: revisions before 2026-07-28. */
export function elicitingApprover({mcpReq}: ServerContext, isRecognized: boolean): Approver {
  return {
    ask: async (question, signal): Promise<ApprovalAnswer> => {
      try {
        const answer = await mcpReq.send(
          {method: 'elicitation/create', params: {...approvalForm(question, isRecognized)}},
          {timeout: PATIENCE_MS, signal},
        );
        const view = inputResponse({answer}, 'answer');
        return readApprovalAnswer(view, question, isRecognized) ?? unanswered('sent no decision');
      } catch {
        return unanswered('could not be asked or did not answer in time');
      }
    },
  };
}

function unanswered(what: string): ApprovalAnswer {
  return {answer: 'refuse', reason: `the client ${what}`, unanswered: true};
}
