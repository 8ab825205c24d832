import {createHash} from 'node:crypto';
import type {ElicitRequestFormParams, InputResponseView} from '@modelcontextprotocol/server';
import type {ToolRequest} from '../core/tool.ts';
import type {ApprovalAnswer, ApprovalQuestion} from '../core/tool-host.ts';
import {cutMiddle} from './cut-middle.ts';

const LONGEST_PREVIEW = 4000;
const LONGEST_REASON = 500;
/** Controls but TAB and LF, zero-width and bidirectional marks, tag characters: what could hide or forge a line. */
const INVISIBLE = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** The question as a form that every revision with elicitation can show: a choice and a line of text. */
export function approvalForm(question: ApprovalQuestion): ElicitRequestFormParams {
  const {tool, summary, preview, by, reason} = question;
  const shown = visible(cutMiddle(preview, LONGEST_PREVIEW));
  // What a call brings along is quoted below everything that is ours, so that it cannot pass for it.
  const quoted = shown === '' ? '' : `\n\n${shown.replaceAll(/^/gm, '| ')}`;
  const because = visible(reason === '' ? by : `${by}: ${reason}`).replaceAll('\n', ' ');
  const message = `Allow ${tool}?\n${visible(summary).replaceAll('\n', ' ')}\nAsked because of ${because}${quoted}`;
  return {
    mode: 'form',
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description:
            'once: this call. session: this exact call until the session ends. refuse: not at all.',
          enum: ['once', 'session', 'refuse'],
        },
        reason: {
          type: 'string',
          title: 'Reason',
          description: 'If you refuse: the model gets to read it.',
          maxLength: LONGEST_REASON,
        },
      },
      required: ['decision'],
    },
  };
}

/** `undefined` where the client sent something that is no answer to the form. */
export function readApprovalAnswer(response: InputResponseView, tool: string): ApprovalAnswer | undefined {
  if (response.kind !== 'elicit') return undefined;
  if (response.action !== 'accept') return {answer: 'refuse', reason: declined(response.action, tool)};
  const {decision, reason} = response.content ?? {};
  switch (decision) {
    case 'once':
    case 'session':
      return {answer: decision};
    case 'refuse':
      return typeof reason === 'string' && reason.trim() !== ''
        ? {answer: 'refuse', reason: reason.trim().slice(0, LONGEST_REASON)}
        : {answer: 'refuse'};
    default:
      return undefined;
  }
}

/** Identifies what was shown for which call: an answer holds for exactly this. */
export function questionDigest({tool, params}: ToolRequest, question: ApprovalQuestion): string {
  const {summary, preview, by, reason} = question;
  return createHash('sha256')
    .update(JSON.stringify([tool, params, summary, preview, by, reason]))
    .digest('hex');
}

function declined(action: 'decline' | 'cancel', tool: string): string {
  const word = action === 'decline' ? 'declined the question' : 'closed the question without an answer';
  return `the client ${word}, which may be its default and not a person; the operator can add "${tool}" to tools.approval.allowlist`;
}

function visible(text: string): string {
  return text.replaceAll(INVISIBLE, character =>
    character === '\n' || character === '\t' ? character : '\ufffd',
  );
}
