// Offers the tools of a toolbox to Anthropic's Messages API. It lists them in that form, runs the calls of a
// message and makes the results to send back.
import type {Json} from '../core/result.ts';
import type {ToolResult} from '../core/tool.ts';
import type {CallOptions, ToolHost} from '../core/tool-host.ts';
import {type AnthropicSearchResult, type AnthropicText, searchResults} from './search-results.ts';

/** A tool of the Messages API. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: {type: 'object'; [keyword: string]: unknown};
}

export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content: string | (AnthropicText | AnthropicSearchResult)[];
  is_error: boolean;
}

/** How the answers of tools are given to the Messages API. */
export interface AnthropicOptions {
  /**
   * Gives what `web_read` and `web_fetch` show of a page as `search_result` blocks, which the API cites by itself.
   * All search results of a request have to be of one mind about citations, those of other tools too. Default: false.
   */
  readonly citations?: boolean;
}

/** Tools in the form of the Messages API, and the way back. */
export interface AnthropicTools {
  /** For the `tools` of a request. */
  readonly tools: AnthropicTool[];
  /**
   * Runs the `tool_use` blocks of a message and gives the blocks that answer them, in their order; the
   * next user message consists of these. Empty where the model called nothing. Never rejects.
   */
  readonly respond: (
    content: readonly {readonly type: string}[],
    options?: CallOptions,
  ) => Promise<AnthropicToolResult[]>;
}

/** The tools of a toolbox for Anthropic's Messages API. */
export function anthropicTools(host: ToolHost, {citations = false}: AnthropicOptions = {}): AnthropicTools {
  const contentOf = (result: ToolResult): AnthropicToolResult['content'] =>
    (citations ? searchResults(result, host) : undefined) ?? host.renderText(result);
  return {
    tools: host.listTools().map(({name, description, paramsSchema}) => ({
      name,
      description,
      input_schema: {...paramsSchema, type: 'object'},
    })),
    respond: (content, options) =>
      Promise.all(
        content.filter(isToolUse).map(async ({id, name, input}): Promise<AnthropicToolResult> => {
          const result = await host.call({tool: name, params: input, request_id: id}, options);
          return {
            type: 'tool_result',
            tool_use_id: id,
            content: contentOf(result),
            is_error: result.status === 'error',
          };
        }),
      ),
  };
}

interface ToolUse {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  /** An object, says the API; whatever else it is, the toolbox refuses. */
  readonly input: {readonly [name: string]: Json};
}

function isToolUse(block: {readonly type: string}): block is ToolUse {
  return block.type === 'tool_use';
}
