import {fail, type Json, ok, type Result} from '../../src/core/result.ts';
import {type ToolRequest, type ToolResult, toolError} from '../../src/core/tool.ts';
import type {ApprovalQuestion, CallOptions, ToolHost, ToolListing} from '../../src/core/tool-host.ts';

export type FixtureTool = (request: ToolRequest, options: CallOptions) => Promise<Result<Json>>;

export interface FixtureHost extends ToolHost {
  /** What was called, in order, with what the interface handed over. */
  readonly calls: readonly {readonly request: ToolRequest; readonly options: CallOptions}[];
}

const TEXT_DATA = {type: 'object', properties: {text: {type: 'string'}}, required: ['text']};

/** A host with the tools of a test. Nothing of the real toolbox is in it. */
export function createFixtureHost(tools: Readonly<Record<string, FixtureTool>>): FixtureHost {
  const calls: {readonly request: ToolRequest; readonly options: CallOptions}[] = [];
  return {
    calls,
    listTools: () => Object.keys(tools).map(describe),
    renderText: ({tool, error, data}) => {
      if (error !== null) return `${error.error_type}: ${error.message}`;
      // As the definition of `web_fetch` renders its data (ruling H2).
      return `${tool === 'web_fetch' ? '' : 'rendered '}${JSON.stringify(data)}`;
    },
    call: async (request, options = {}) => {
      calls.push({request, options});
      const tool = tools[request.tool];
      const outcome =
        tool === undefined
          ? fail('unknown_tool', `There is no tool "${request.tool}".`)
          : await tool(request, options);
      return resultOf(request, outcome);
    },
  };
}

function describe(name: string): ToolListing {
  return {
    name,
    title: `Title of ${name}`,
    description: `Description of ${name}.`,
    annotations: {readOnly: false, destructive: true, idempotent: false, openWorld: true},
    paramsSchema: {type: 'object', properties: {text: {type: 'string'}}},
    dataSchema: TEXT_DATA,
  };
}

function resultOf({request_id = '', tool}: ToolRequest, outcome: Result<Json>): ToolResult {
  return {
    request_id,
    tool,
    status: outcome.ok ? 'success' : 'error',
    started_at: '2025-01-01T00:00:00.000Z',
    ended_at: '2025-01-01T00:00:01.500Z',
    duration_sec: 1.5,
    data: outcome.ok ? outcome.value : null,
    error: outcome.ok ? null : toolError(outcome.error),
    exit_code: null,
    stdout_path: null,
    stderr_path: null,
  };
}

/** Gives its `text` back. */
export const echo: FixtureTool = async ({params}) => ok({text: params['text'] ?? ''});

/** Runs until it is cancelled, and says so to `onEnd`. */
export function endless(onStart: () => void, onEnd: () => void): FixtureTool {
  return (_request, {signal}) =>
    new Promise(resolve => {
      signal?.addEventListener('abort', () => {
        onEnd();
        resolve(fail('cancelled', 'The call was cancelled.'));
      });
      onStart();
    });
}

/** Asks for leave, as a host does, and calls `act` once it has it. */
export function guarded(
  act: (request: ToolRequest) => void,
  question: Partial<ApprovalQuestion> = {},
): FixtureTool {
  return async (request, {approver, signal}) => {
    const {tool, request_id = ''} = request;
    if (approver === undefined) {
      return fail('approval_required', `Run \`forge-tools approve abc\` and repeat the call.`, {
        tool,
        approval_id: 'abc',
      });
    }
    const asked: ApprovalQuestion = {
      requestId: request_id,
      tool,
      action: 'write_file',
      summary: `${tool} ${String(request.params['text'] ?? '')}`,
      preview: '+ a line',
      hash: '0'.repeat(64),
      by: 'tools.approval.mode',
      reason: 'it is "prompt"',
      suggestedRule: undefined,
      ruleProblem: () => undefined,
      canRemember: false,
      ...question,
    };
    const answer = await approver.ask(asked, signal ?? new AbortController().signal);
    if (signal?.aborted) return fail('cancelled', 'The call was cancelled.');
    if (answer.answer === 'refuse') {
      return fail('approval_denied', `Refused: ${answer.reason ?? 'no reason'}.`, {
        tool,
        reason: answer.reason,
      });
    }
    act(request);
    return ok({text: answer.answer});
  };
}
