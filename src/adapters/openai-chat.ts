import type {CallOptions, ToolHost} from '../core/tool-host.ts';
import {callWithJson} from './call-with-json.ts';

/** A function tool of the Chat Completions API, which many servers speak. */
export interface OpenaiChatTool {
  type: 'function';
  function: {name: string; description: string; parameters: {[keyword: string]: unknown}};
}

export interface OpenaiChatToolMessage {
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
        (toolCalls ?? []).filter(isFunctionCall).map(async (item): Promise<OpenaiChatToolMessage> => {
          const call = {id: item.id, tool: item.function.name, json: item.function.arguments};
          return {role: 'tool', tool_call_id: item.id, content: await callWithJson(host, call, options)};
        }),
      ),
  };
}

interface FunctionCall {
  readonly type: 'function';
  readonly id: string;
  readonly function: {readonly name: string; readonly arguments: string};
}

function isFunctionCall(item: {readonly type: string}): item is FunctionCall {
  return item.type === 'function';
}
