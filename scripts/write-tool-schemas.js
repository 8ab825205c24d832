// Part of the build: schemas/, which the package has, and the tools' schemas as JSON, so that a start does not work
// them out (src/core/built-schemas.ts).
import {mkdir, rm, writeFile} from 'node:fs/promises';
import {FAILURE_CODES} from '../dist/core/failure-codes.js';
import {createToolbox} from '../dist/create-toolbox.js';
import {toolResultSchema} from '../dist/mcp/describe-tool.js';
import {RUNTIME_EVENTS} from '../dist/runtime/run-event.js';
import {listEveryTool} from './list-every-tool.js';
import {renderSchemas} from './render-schemas.js';

const tools = await listEveryTool(createToolbox);
const built = tools.map(({name, paramsSchema, dataSchema}) => [
  name,
  {params: paramsSchema, data: dataSchema},
]);
// Read as JSON, which is three times as fast as code.
const json = JSON.stringify(JSON.stringify(Object.fromEntries(built)));
await writeFile(
  new URL('../dist/core/built-schemas.js', import.meta.url),
  `export const BUILT_SCHEMAS = JSON.parse(${json});\n`,
);

const schemas = new URL('../schemas/', import.meta.url);
const files = renderSchemas(tools, {
  failureCodes: FAILURE_CODES,
  runtimeEvents: RUNTIME_EVENTS,
  toolResultSchema,
});
// A tool that is gone leaves no schema behind.
await rm(schemas, {recursive: true, force: true});
await mkdir(new URL('tools/', schemas), {recursive: true});
for (const [name, content] of files) await writeFile(new URL(name, schemas), content);
