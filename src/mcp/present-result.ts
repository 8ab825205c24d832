// Presents the result of a call to an MCP client: as text, or as text and structure.
import type {CallToolResult} from '@modelcontextprotocol/server';
import type {Json} from '../core/result.ts';
import {cutMiddle} from '../core/text/cut.ts';
import {bareFailure, type ToolResult} from '../core/tool.ts';

/** Hosts cut or refuse longer text; the whole result is in `structuredContent`. */
export const LONGEST_TEXT = 40_000;

/** Ruling H2: `web_fetch` answers with its response or its error envelope, without a `ToolResult` around it. */
export function isBareJsonTool(tool: string): boolean {
  return tool === 'web_fetch';
}

/**
 * Ruling H2. Some hosts show a model only the text, some only `structuredContent`, some both: each is
 * enough by itself. With `text`, there is no structure (ruling H8). No failure of a tool is a JSON-RPC error.
 */
export function presentResult(
  result: ToolResult,
  renderText: (result: ToolResult) => string,
  channel: 'both' | 'text' = 'both',
): CallToolResult {
  const {structuredContent, ...presented} = presentBoth(result, renderText);
  return channel === 'text' || structuredContent === undefined
    ? presented
    : {...presented, structuredContent};
}

function presentBoth(result: ToolResult, renderText: (result: ToolResult) => string): CallToolResult {
  const {tool, data, error} = result;
  if (!isBareJsonTool(tool)) {
    return {
      ...textOf(cutMiddle(renderText(result), LONGEST_TEXT)),
      structuredContent: {...result},
      ...(result.status === 'error' ? {isError: true} : {}),
    };
  }
  // FR-ERR-JSON-01, FR-ERR-JSON-02: nothing stands before the envelope, so that it parses.
  if (error !== null) return {...textOf(JSON.stringify(bareFailure(error))), isError: true};
  return {...textOf(renderText(result)), ...(isObject(data) ? {structuredContent: data} : {})};
}

function textOf(text: string): CallToolResult {
  return {content: [{type: 'text', text}]};
}

function isObject(data: Json): data is {readonly [key: string]: Json} {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
