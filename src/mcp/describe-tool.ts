import type {Tool} from '@modelcontextprotocol/server';
import type {Json} from '../core/json.ts';
import type {ToolListing} from '../core/tool-host.ts';
import {compactSchema} from './compact-schema.ts';
import {isBareJsonTool} from './present-result.ts';
import {toolResultSchema} from './tool-result-schema.ts';

/** A tool as `tools/list` shows it: title, schemas and all four hints. With `text`, no schema of answers (ruling H8), and parameters at the price of what a model needs. */
export function describeTool(listing: ToolListing, channel: 'both' | 'text' = 'both'): Tool {
  const {name, title, description, annotations, paramsSchema, dataSchema} = listing;
  const {readOnly, destructive, idempotent, openWorld} = annotations;
  const outputSchema = isBareJsonTool(name) ? dataSchema : toolResultSchema(dataSchema);
  return {
    name,
    title,
    description,
    // W18: the schema of web_fetch is a closed one, and is seen to be.
    inputSchema: ofObjectType(
      channel === 'text' && !isBareJsonTool(name) ? compactSchema(paramsSchema) : paramsSchema,
    ),
    // Every revision before 2026-07-28 wants an object at the root; text output (ruling H6) has none.
    ...(channel === 'both' && outputSchema['type'] === 'object'
      ? {outputSchema: ofObjectType(outputSchema)}
      : {}),
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: openWorld,
    },
  };
}

function ofObjectType(schema: {readonly [keyword: string]: Json}): {
  [keyword: string]: unknown;
  type: 'object';
} {
  return {...schema, type: 'object'};
}
