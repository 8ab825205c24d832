// Part of the build: what the tools' schemas are as JSON, so that a start does not work it out (src/core/schema/built-schemas.ts).
import {writeFile} from 'node:fs/promises';
import {createToolbox} from '../dist/create-toolbox.js';
import {listEveryTool} from './list-every-tool.js';

const built = (await listEveryTool(createToolbox)).map(({name, paramsSchema, dataSchema}) => [
  name,
  {params: paramsSchema, data: dataSchema},
]);
// Read as JSON, which is three times as fast as code.
const json = JSON.stringify(JSON.stringify(Object.fromEntries(built)));
await writeFile(
  new URL('../dist/core/schema/built-schemas.js', import.meta.url),
  `export const BUILT_SCHEMAS = JSON.parse(${json});\n`,
);
