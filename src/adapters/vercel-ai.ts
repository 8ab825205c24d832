// Offers the tools of a toolbox to the Vercel AI SDK. Each becomes a tool whose `execute` calls the toolbox.
import {randomHex} from '../core/clock.ts';
import type {Json} from '../core/result.ts';
import type {ToolResult} from '../core/tool.ts';
import type {ToolHost} from '../core/tool-host.ts';

/** A tool of the AI SDK whose schema is `InputSchema`, the SDK's own type. */
export interface VercelTool<InputSchema> {
  type: 'dynamic';
  title: string;
  description: string;
  inputSchema: InputSchema;
  execute: (
    input: unknown,
    options: {toolCallId?: string; abortSignal?: AbortSignal | undefined},
  ) => Promise<ToolResult>;
  toModelOutput: (answer: {output: unknown}) => {type: 'text' | 'error-text'; value: string};
}

/**
 * The tools of a toolbox for the AI SDK: `vercelTools(toolbox, jsonSchema)` with the `jsonSchema` of the
 * package `ai`. The program gets the whole `ToolResult`, the model its text. `execute` never rejects.
 */
export function vercelTools<InputSchema>(
  host: ToolHost,
  jsonSchema: (schema: {type: 'object'; [keyword: string]: Json}) => InputSchema,
): Record<string, VercelTool<InputSchema>> {
  const tools = host.listTools().map(({name, title, description, paramsSchema}) => {
    const tool: VercelTool<InputSchema> = {
      type: 'dynamic',
      title,
      description,
      inputSchema: jsonSchema({...paramsSchema, type: 'object'}),
      execute: (input, {toolCallId, abortSignal}) =>
        host.call(
          {
            tool: name,
            // The toolbox refuses what is no object.
            params: input as {readonly [name: string]: Json},
            request_id: toolCallId ?? `ai-${randomHex(8)}`,
          },
          abortSignal === undefined ? {} : {signal: abortSignal},
        ),
      toModelOutput: ({output}) => {
        // What `execute` returned, or a copy of it from a stored conversation.
        const result = output as ToolResult;
        return {type: result.status === 'error' ? 'error-text' : 'text', value: host.renderText(result)};
      },
    };
    return [name, tool] as const;
  });
  return Object.fromEntries(tools);
}
