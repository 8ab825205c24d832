// JSON Schemas of the tools, worked out by the build.
import type {Json} from './result.ts';

type JsonSchema = {readonly [keyword: string]: Json};

/**
 * The JSON Schemas of the tools by name, so that a start does not work them out again, which takes 15 ms. The build
 * puts them here (scripts/write-tool-schemas.js); sources that are run as they are have none and work them out.
 */
export const BUILT_SCHEMAS: {
  readonly [tool: string]: {readonly params: JsonSchema; readonly data: JsonSchema};
} = {};
