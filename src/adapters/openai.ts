// Offers the tools of a toolbox to OpenAI's Responses API and to the Chat Completions API. It lists them in each
// form and runs the calls of an answer.
import type {CallOptions, ToolHost} from '../core/tool-host.ts';
import {callWithJson} from './search-results.ts';

/** A function tool of the Responses API. */
interface OpenaiTool {
  type: 'function';
  name: string;
  description: string;
  parameters: {[keyword: string]: unknown};
  strict: false;
}

interface OpenaiToolOutput {
  type: 'function_call_output';
  call_id: string;
  output: string;
}

/** Tools in the form of the Responses API, and the way back. */
export interface OpenaiTools {
  /** For the `tools` of a request. */
  readonly tools: OpenaiTool[];
  /**
   * Runs the `function_call` items of a response and gives the items that answer them, in their order,
   * for the next input. Empty where the model called nothing. Never rejects.
   */
  readonly respond: (
    output: readonly {readonly type: string}[],
    options?: CallOptions,
  ) => Promise<OpenaiToolOutput[]>;
}

/** The tools of a toolbox for OpenAI's Responses API. */
export function openaiTools(host: ToolHost): OpenaiTools {
  return {
    tools: host.listTools().map(({name, description, paramsSchema}) => ({
      type: 'function',
      name,
      description,
      parameters: {...paramsSchema},
      // Strict mode knows no optional parameters; the toolbox validates.
      strict: false,
    })),
    respond: (output, options) =>
      Promise.all(
        output.filter(isFunctionCall).map(async (item): Promise<OpenaiToolOutput> => {
          const call = {id: item.call_id, tool: item.name, json: item.arguments};
          return {
            type: 'function_call_output',
            call_id: item.call_id,
            output: await callWithJson(host, call, options),
          };
        }),
      ),
  };
}

interface FunctionCall {
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

function isFunctionCall(item: {readonly type: string}): item is FunctionCall {
  return item.type === 'function_call';
}

/** A function tool of the Chat Completions API, which many servers speak. */
interface OpenaiChatTool {
  type: 'function';
  function: {name: string; description: string; parameters: {[keyword: string]: unknown}};
}

interface OpenaiChatToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** Tools in the form of the Chat Completions API, and the way back. */
export interface OpenaiChatTools {
  /** For the `tools` of a request. */
  readonly tools: OpenaiChatTool[];
  /** Runs the `tool_calls` of a message and gives the messages that answer them, in their order. Never rejects. */
  readonly respond: (
    toolCalls: readonly {readonly type: string}[] | null | undefined,
    options?: CallOptions,
  ) => Promise<OpenaiChatToolMessage[]>;
}

/** The tools of a toolbox for OpenAI's Chat Completions API and the servers that speak it. */
export function openaiChatTools(host: ToolHost): OpenaiChatTools {
  return {
    tools: host.listTools().map(({name, description, paramsSchema}) => ({
      type: 'function',
      function: {name, description, parameters: {...paramsSchema}},
    })),
    respond: (toolCalls, options) =>
      Promise.all(
        (toolCalls ?? []).filter(isChatFunctionCall).map(async (item): Promise<OpenaiChatToolMessage> => {
          const call = {id: item.id, tool: item.function.name, json: item.function.arguments};
          return {role: 'tool', tool_call_id: item.id, content: await callWithJson(host, call, options)};
        }),
      ),
  };
}

interface ChatFunctionCall {
  readonly type: 'function';
  readonly id: string;
  readonly function: {readonly name: string; readonly arguments: string};
}

function isChatFunctionCall(item: {readonly type: string}): item is ChatFunctionCall {
  return item.type === 'function';
}
