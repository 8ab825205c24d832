import type {CallOptions, ToolHost} from '../core/tool-host.ts';
import {callWithJson} from './call-with-json.ts';

/** A function tool of the Responses API. */
export interface OpenaiTool {
  type: 'function';
  name: string;
  description: string;
  parameters: {[keyword: string]: unknown};
  strict: false;
}

export interface OpenaiToolOutput {
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
