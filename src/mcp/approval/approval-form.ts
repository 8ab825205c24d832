import {createHash} from 'node:crypto';
import type {ElicitRequestFormParams, InputResponseView} from '@modelcontextprotocol/server';
import {cutMiddle} from '../../core/text/cut-middle.ts';
import {showInvisible} from '../../core/text/show-invisible.ts';
import {takeStart} from '../../core/text/take-start.ts';
import type {ToolRequest} from '../../core/tool.ts';
import type {ApprovalAnswer, ApprovalQuestion} from '../../core/tool-host.ts';

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

/** The question as a form that every revision with elicitation can show: a choice and a line of text. */
export function approvalForm(question: ApprovalQuestion): ElicitRequestFormParams {
  const {tool, summary, preview, by, reason} = question;
  const shown = showInvisible(cutMiddle(preview, LONGEST_PREVIEW));
  // What a call brings along is quoted below everything that is ours, so that it cannot pass for it.
  const line = showInvisible(takeStart(summary, LONGEST_SUMMARY)).replaceAll('\n', ' ');
  const quoted = (shown === '' || shown === line ? line : `${line}\n${shown}`).replaceAll(/^/gm, '| ');
  const because = showInvisible(
    reason.includes(by) ? reason : `${by}${reason === '' ? '' : `: ${reason}`}`,
  ).replaceAll('\n', ' ');
  const suggestion = suggestedPattern(question);
  const offered = choicesOf(question);
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
            description: `For session-rule and always: allow ${tool}${question.suggestedRule?.tainted === true ? ', also after untrusted text,' : ''} where ${suggestion.key} is this.`,
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
): ApprovalAnswer | undefined {
  if (response.kind !== 'elicit') return undefined;
  if (response.action !== 'accept') {
    return {answer: 'refuse', reason: declined(response.action, question.tool)};
  }
  const {decision, reason, rule} = response.content ?? {};
  const answer = choicesOf(question).find(choice => choice === decision);
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
    : {answer: 'refuse', reason: `the rule of the answer cannot be used: ${problem}`};
}

function choicesOf({suggestedRule, canRemember}: ApprovalQuestion): readonly (keyof typeof CHOICES)[] {
  const byRule = suggestedRule === undefined ? [] : (['session-rule'] as const);
  const kept = suggestedRule === undefined || !canRemember ? [] : (['always'] as const);
  return ['once', 'session', ...byRule, ...kept, 'refuse', 'stop'];
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
  return `the client ${word}, which may be its default and not a person; the operator can add "${tool}" to tools.approval.allowlist, or start with --profile trusted if the client asks its user itself`;
}
