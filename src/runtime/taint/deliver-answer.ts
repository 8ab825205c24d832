import {FAILURE_CODES} from '../../core/failure/failure-codes.ts';
import type {Result} from '../../core/result.ts';
import type {Intent, Tool, ToolAnswer} from '../../core/tool.ts';
import {textsOf} from '../answer/texts-of.ts';
import type {ToolCall} from '../call/tool-call.ts';
import {redactAddress} from '../events/redact-address.ts';
import type {RunTaint} from './run-taint.ts';

/**
 * T1: before a model gets an answer, the run knows what is in it. A failure may hold text too: the output of a command,
 * or an address that a server redirected to.
 */
export async function deliverAnswer(
  outcome: Result<ToolAnswer>,
  {tool, intent, call}: {readonly tool: Tool; readonly intent: Intent; readonly call: ToolCall},
  taint: RunTaint,
): Promise<void> {
  if (taint.mode === 'off') return;
  const {delivers: kind = 'private'} = tool;
  // What the caller did wrong is said in words of ours, and of the caller.
  const isOfCaller = !outcome.ok && FAILURE_CODES[outcome.error.code].blame === 'caller';
  if (isOfCaller && kind === 'untrusted') return;
  const text = outcome.ok
    ? textsOf(outcome.value.data)
    : textsOf([outcome.error.message, outcome.error.details]);
  const {subject, summary} = intent;
  const origin = subject.kind === 'url' ? subject.values.map(redactAddress).join(', ') : summary;
  const about = {request_id: call.requestId, step: call.step, tool: tool.name};
  await taint.deliver({kind, origin, text, hasLinks: outcome.ok}, about);
}
