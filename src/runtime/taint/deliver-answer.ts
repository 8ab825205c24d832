// Tells the run what is in an answer before the model gets it.
import type {Result} from '../../core/result.ts';
import type {Intent, ToolAnswer} from '../../core/tool.ts';
import {textsOf} from '../answer.ts';
import {redactAddress} from '../redact.ts';
import type {ToolCall} from '../tool-call.ts';
import type {RunTaint} from './run-taint.ts';

/**
 * T1: before a model gets an answer, the run knows what is in it. A failure holds text too, whoever is to blame: a line
 * of a file that a patch does not match, the output of a command, an address that a server redirected to.
 */
export async function deliverAnswer(
  outcome: Result<ToolAnswer>,
  {delivers: kind, intent, request, requestId, step}: ToolCall,
  taint: RunTaint,
): Promise<void> {
  if (taint.mode === 'off' || kind === undefined) return;
  const text = outcome.ok
    ? textsOf(outcome.value.data)
    : textsOf([outcome.error.message, outcome.error.details]);
  const origin = intent === undefined ? request.tool : originOf(intent);
  const about = {request_id: requestId, step, tool: request.tool};
  await taint.deliver({kind, origin, text, hasLinks: outcome.ok}, about);
}

/** What a person knows a text by: its address or its files, else what was called. */
function originOf({subject, summary}: Intent): string {
  if (subject.kind === 'url') return subject.values.map(redactAddress).join(', ');
  const files = subject.kind === 'path' ? subject.values.filter(path => path !== '' && path !== '.') : [];
  return files.length > 0 ? files.join(', ') : summary;
}
