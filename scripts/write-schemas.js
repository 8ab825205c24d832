// Writes schemas/ from the tables in the code. Needs dist/: `npm run docs`.
import {mkdir, rm, writeFile} from 'node:fs/promises';
import {FAILURE_CODES} from '../dist/core/failure/failure-codes.js';
import {createToolbox} from '../dist/create-toolbox.js';
import {toolResultSchema} from '../dist/mcp/tool-result-schema.js';
import {RUNTIME_EVENTS} from '../dist/runtime/events/run-event.js';
import {listEveryTool} from './list-every-tool.js';
import {renderSchemas} from './render-schemas.js';

const schemas = new URL('../schemas/', import.meta.url);
const files = renderSchemas(await listEveryTool(createToolbox), {
  failureCodes: FAILURE_CODES,
  runtimeEvents: RUNTIME_EVENTS,
  toolResultSchema,
});
// A tool that is gone leaves no schema behind.
await rm(schemas, {recursive: true, force: true});
await mkdir(new URL('tools/', schemas), {recursive: true});
for (const [name, content] of files) await writeFile(new URL(name, schemas), content);
