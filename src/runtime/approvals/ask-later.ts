import type {Result} from '../../core/result.ts';
import type {LaterQuestion} from '../../core/tool.ts';
import {type ApprovalDeps, requestApproval} from './request-approval.ts';

/**
 * Ruling X1: a call that runs asks about something that nobody was asked about when it began. Decided as a call is, by
 * rules, grants, the approver or the `approve` command, and bound to what is asked about alone.
 */
export async function askLater(
  {action, subject, summary, toAllow}: LaterQuestion,
  about: {readonly requestId: string; readonly step: number},
  deps: ApprovalDeps,
  signal: AbortSignal,
): Promise<Result<undefined>> {
  const approval = await requestApproval(
    {
      ...about,
      tool: {name: action, action},
      params: {values: subject.values},
      intent: {subject, summary, preview: subject.values.join('\n'), fileHashes: {}},
      toAllow,
      signal,
    },
    deps,
  );
  return approval.outcome;
}
