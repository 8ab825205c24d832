import type {ApprovalQuestion} from '../../core/tool-host.ts';
import {type Console, styled} from '../console.ts';
import {quoted} from '../terminal/quoted.ts';
import {renderReason} from './render-reason.ts';
import {renderSummary} from './render-summary.ts';

/** What the approver is asked: why it is asked, and behind a bar what would be done, with its diff, command or address. */
export function renderQuestion(question: ApprovalQuestion, console: Console): string {
  const {tool, summary, preview} = question;
  const isAllSaid = preview.trim() === summary.trim();
  return [
    styled(console, 'bold', `${tool} needs an approval.`),
    `  Why it is asked: ${renderReason(question)}`,
    ...renderSummary(summary, console),
    ...(isAllSaid ? [] : quoted(preview, console)),
    '',
  ].join('\n');
}
