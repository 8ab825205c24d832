// A host with a command in the background, until it is killed: node background-host.js RUN-SETTINGS-JSON WORKSPACE COMMAND
import {createToolbox} from '../../dist/index.js';

const [settings = '', workspace = '', command = ''] = process.argv.slice(2);
const toolbox = createToolbox({
  workspace,
  runDirectory: `${workspace}-run`,
  config: {tools: {mode: 'enabled', approval: {mode: 'auto'}, run: JSON.parse(settings)}},
});
const call = (tool, params) => toolbox.call({tool, params, request_id: ''});
const started = await call('run', {command, background: true});
const waited = await call('wait_for', {text: 'up'});
console.log(
  started.error === null && waited.data?.outcome === 'text' ? 'up' : JSON.stringify([started, waited]),
);
if (process.env.FORGE_TEST_CLOSE !== undefined) await toolbox.close();
