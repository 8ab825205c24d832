import {inputResponse, type ServerContext} from '@modelcontextprotocol/server';
import type {ApprovalAnswer, Approver} from '../../core/tool-host.ts';
import {approvalForm, readApprovalAnswer} from './approval-form.ts';

/** People are slower than the 60 s that a request has by default. */
const PATIENCE_MS = 600_000;

/** Asks the client while the call waits: revisions before 2026-07-28. */
export function elicitingApprover({mcpReq}: ServerContext): Approver {
  return {
    ask: async (question, signal): Promise<ApprovalAnswer> => {
      try {
        const answer = await mcpReq.send(
          {method: 'elicitation/create', params: {...approvalForm(question)}},
          {timeout: PATIENCE_MS, signal},
        );
        const view = inputResponse({answer}, 'answer');
        return readApprovalAnswer(view, question) ?? unanswered('sent no decision');
      } catch {
        return unanswered('could not be asked or did not answer in time');
      }
    },
  };
}

function unanswered(what: string): ApprovalAnswer {
  return {answer: 'refuse', reason: `the client ${what}`};
}
