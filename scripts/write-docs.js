// Writes what is made from tables in the code: pages of docs/ and the types of the tools. Needs dist/: `npm run docs`.
import {readFile, writeFile} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
import {configSchema} from '../dist/config/config-schema.js';
import {renderConfigReference} from '../dist/config/render-reference.js';
import {FAILURE_CODES} from '../dist/core/failure-codes.js';
import {createToolbox} from '../dist/create-toolbox.js';
import {RUNTIME_EVENTS} from '../dist/runtime/run-event.js';
import {listEveryTool} from './list-every-tool.js';
import {readProject} from './read-project.js';
import {renderErrors} from './render-errors.js';
import {renderEvents} from './render-events.js';
import {renderRequirements} from './render-requirements.js';
import {renderToolMethods} from './render-tool-methods.js';
import {renderTools} from './render-tools.js';
import {traceRequirements} from './trace-requirements.js';

const docs = new URL('../docs/', import.meta.url);
await writeFile(new URL('config.md', docs), renderConfigReference(configSchema));
await writeFile(new URL('errors.md', docs), renderErrors(FAILURE_CODES));
await writeFile(new URL('events.md', docs), renderEvents(RUNTIME_EVENTS));
const tools = await listEveryTool(createToolbox);
await writeFile(new URL('tools.md', docs), renderTools(tools));
// The first session lists the tools. It has no search engine.
const quickStart = await readFile(new URL('quickstart.md', docs), 'utf8');
const listed = `tools/list\n  ${tools
  .map(({name}) => name)
  .filter(name => name !== 'web_search')
  .join(' ')}\n`;
await writeFile(new URL('quickstart.md', docs), quickStart.replace(/^tools\/list\n.*\n/m, listed));

const requirements = JSON.parse(await readFile(new URL('requirements.json', import.meta.url), 'utf8'));
const {groups, problems} = traceRequirements(requirements, readProject(new URL('../', import.meta.url)));
if (problems.length > 0) throw new Error(`scripts/requirements.json is not true:\n${problems.join('\n')}`);
await writeFile(new URL('requirements.md', docs), renderRequirements(groups));

const methods = fileURLToPath(new URL('../src/tools/tool-methods.data.ts', import.meta.url));
await writeFile(methods, renderToolMethods(tools));
