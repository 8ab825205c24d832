import type {ApprovalQuestion} from '../core/tool-host.ts';
import {barred} from './barred.ts';
import {type Console, styled} from './console.ts';
import {printable} from './printable.ts';
import {renderReason} from './render-reason.ts';

/** What somebody is asked: what would be done, with its diff, command or address, and why it is asked. */
export function renderQuestion(question: ApprovalQuestion, console: Console): string {
  const {tool, summary, preview} = question;
  return [
    styled(console, 'bold', `${tool} needs an approval.`),
    `  ${printable(summary).replaceAll('\n', ' ')}`,
    `  Why it is asked: ${renderReason(question)}`,
    ...(preview.trim() === summary ? [] : barred(preview, console)),
    '',
  ].join('\n');
}
