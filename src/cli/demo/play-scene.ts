import type {ToolResult} from '../../core/tool.ts';
import type {ApprovalAnswer, Approver, ToolHost} from '../../index.ts';
import {type Console, styled} from '../console.ts';
import {renderQuestion} from '../render/render-question.ts';
import {printable} from '../terminal/printable.ts';
import type {SceneStep} from './scene.ts';

const MOST_LINES = 14;

export interface SceneOutcome {
  readonly asRecorded: number;
  readonly total: number;
  /** Steps that this machine lacks a part for. */
  readonly lacking: number;
  /** What must not work, and did not. */
  readonly blocked: readonly string[];
}

/** Makes the recorded calls one after the other, and says of each whether it went as it did then. */
export async function playScene(
  steps: readonly SceneStep[],
  host: ToolHost,
  console: Console,
  signal: AbortSignal,
): Promise<SceneOutcome> {
  let asRecorded = 0;
  let lacking = 0;
  const blocked: string[] = [];
  for (const [index, step] of steps.entries()) {
    if (signal.aborted) break;
    const {tool, params} = step;
    const call = printable(JSON.stringify(params));
    const shown = call.length > 100 ? `${call.slice(0, 99)}…` : call;
    await console.out(
      `\n${styled(console, 'bold', `${index + 1}. ${step.title}`)}\n   ${styled(console, 'cyan', `${tool} ${shown}`)}\n`,
    );
    const approver = recordedApprover(step, console);
    const result = await host.call({tool, params, request_id: `demo-${index + 1}`}, {signal, approver});
    const text = host.renderText(result);
    await console.out(indented(readable(text, result)));
    if (step.unless !== undefined && result.error?.error_type === step.unless.code) {
      lacking += 1;
      await console.out(
        `   ${styled(console, 'yellow', 'not on this machine')}: ${step.unless.install} gets it; the rest goes on\n`,
      );
      continue;
    }
    const problem = differs(step, result, text);
    if (problem === undefined) {
      asRecorded += 1;
      if (step.blocked !== undefined) blocked.push(step.blocked);
    }
    await console.out(
      problem === undefined
        ? `   ${styled(console, 'green', '✓')} ${outcomeOf(step)}\n`
        : `   ${styled(console, 'red', 'NOT as recorded')}: ${printable(problem)}\n`,
    );
  }
  return {asRecorded, lacking, blocked, total: steps.length};
}

/** Shows what a person would see, and answers as the approver did. */
function recordedApprover({answer}: SceneStep, console: Console): Approver {
  return {
    ask: async question => {
      await console.out(indented(renderQuestion(question, {...console, columns: console.columns - 3})));
      const given: ApprovalAnswer = answer?.(question) ?? {answer: 'refuse', reason: 'nobody was asked then'};
      const words = wordsOf(given);
      await console.out(`   ${styled(console, 'yellow', `Answer: ${words}`)}\n`);
      return given;
    },
  };
}

function wordsOf(given: ApprovalAnswer): string {
  switch (given.answer) {
    case 'once':
      return 'yes, this once';
    case 'refuse':
      return `no, ${given.reason ?? ''}`;
    case 'session-rule':
      return 'yes, and calls like it for the session';
    default:
      return given.answer;
  }
}

function differs(
  {expects, exitCode, says, hides}: SceneStep,
  result: ToolResult,
  text: string,
): string | undefined {
  const came = result.error?.error_type ?? 'success';
  if (came !== expects) return `expected ${expects}, got ${came}`;
  if (exitCode !== undefined && result.exit_code !== exitCode) {
    return `expected exit code ${exitCode}, got ${result.exit_code}`;
  }
  if (says !== undefined && !says.test(text)) return `expected ${says} in the answer`;
  return hides?.test(text) ? `expected no ${hides} in the answer` : undefined;
}

function outcomeOf({expects, exitCode}: SceneStep): string {
  return exitCode === undefined ? expects : `exit code ${exitCode}`;
}

/** `web_fetch` answers an agent with JSON; a person reads the Markdown of its chunks, and of a failure what it says. */
function readable(text: string, {error}: ToolResult): string {
  if (error !== null) return `${error.error_type}: ${error.message}`;
  if (!text.startsWith('{')) return text;
  const response: unknown = JSON.parse(text);
  if (typeof response !== 'object' || response === null || !('chunks' in response)) return text;
  const {chunks} = response as {
    readonly chunks: readonly {readonly text: string; readonly token_count: number}[];
  };
  return chunks.map(chunk => `[${chunk.token_count} tokens]\n${chunk.text}`).join('\n');
}

function indented(text: string): string {
  const lines = printable(text).trimEnd().split('\n');
  const more = lines.length - MOST_LINES;
  const shown = more > 1 ? [...lines.slice(0, MOST_LINES), `… ${more} more lines`] : lines;
  return shown.map(line => `${line === '' ? '' : `   ${line}`}\n`).join('');
}
