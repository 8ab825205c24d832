// Replays the calls of a trial through the command line's MCP server, as a client would make them, without a model.
import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {makeRepository} from './repositories.js';

export const {tasks: TASKS} = JSON.parse(readFileSync(join(import.meta.dirname, 'trial.json'), 'utf8'));
/** What is measured is what a command says, not where it runs. */
const CONFIG = `[tools]
mode = "enabled"
[tools.webfetch]
enabled = true
[tools.run]
sandbox = "none"
allow_insecure_none = true
[tools.approval]
allowlist = ["write_file", "patch_file", "run"]
`;
const LONGEST_ANSWER_MS = 60_000;

/**
 * One task in a repository of its own. `count` counts tokens, `channel` is as in `tools.mcp.results`; an older build
 * knows \`both\` alone. Answers with the tokens of each call, and with what of the task is not done.
 */
export async function replayTask(task, {program, calls = task.calls, channel, count}) {
  const directory = mkdtempSync(join(tmpdir(), 'forge-trial-'));
  try {
    const workspace = join(directory, 'work');
    mkdirSync(workspace);
    makeRepository(task.repository, workspace);
    writeFileSync(join(directory, 'config.toml'), CONFIG);
    const flags = ['--config', join(directory, 'config.toml'), '--workspace', workspace];
    const results = channel === 'text' ? ['--results', 'text'] : [];
    const client = openClient([program, 'mcp', ...flags, ...results], directory);
    const clientInfo = {name: 'trial', version: '1'};
    await client.request('initialize', {protocolVersion: '2025-11-25', capabilities: {}, clientInfo});
    client.notify('notifications/initialized');
    const {tools} = await client.request('tools/list', {});
    const costs = [];
    for (const {tool, params} of calls) {
      const answer = await client.request('tools/call', {name: tool, arguments: params});
      const text = answer.content.map(part => part.text ?? '').join('');
      const structure = answer.structuredContent;
      costs.push({
        tool,
        isError: answer.isError === true,
        arguments: count(JSON.stringify(params)),
        text: count(text),
        structure: structure === undefined ? 0 : count(JSON.stringify(structure)),
        first: text.slice(0, 200),
      });
    }
    await client.close();
    const left = task.done.filter(({file, text}) => !contains(join(workspace, file), text));
    return {name: task.name, costs, left, definitions: count(definitionsOf(tools, channel))};
  } finally {
    rmSync(directory, {recursive: true, force: true});
  }
}

/** What a client puts before its model: with `both`, what the answers look like too. */
function definitionsOf(tools, channel) {
  const shown = tools.map(({name, description, inputSchema, outputSchema}) =>
    channel === 'text' ? {name, description, inputSchema} : {name, description, inputSchema, outputSchema},
  );
  return shown.map(tool => JSON.stringify(tool)).join('\n');
}

function contains(file, text) {
  try {
    return readFileSync(file, 'utf8').includes(text);
  } catch {
    return false;
  }
}

function openClient(args, home) {
  const env = {
    ...process.env,
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'etc'),
  };
  const child = spawn(process.execPath, args, {stdio: ['pipe', 'pipe', 'pipe'], env});
  const waiting = new Map();
  let said = '';
  let line = '';
  let id = 0;
  child.stderr.on('data', chunk => {
    said = `${said}${chunk}`.slice(-2000);
  });
  child.stdout.setEncoding('utf8').on('data', chunk => {
    line += chunk;
    const lines = line.split('\n');
    line = lines.pop();
    for (const message of lines.map(text => JSON.parse(text))) waiting.get(message.id)?.(message);
  });
  const ended = new Promise(resolve => child.once('close', resolve));
  ended.then(code => {
    for (const resolve of waiting.values())
      resolve({error: {message: `the server ended with ${code}: ${said}`}});
  });
  const send = message => child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
  return {
    notify: method => send({method}),
    request: async (method, params) => {
      id += 1;
      const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_ANSWER_MS);
      const answer = await new Promise(resolve => {
        waiting.set(id, resolve);
        send({id, method, params});
      });
      clearTimeout(timer);
      waiting.delete(id);
      if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
      return answer.result;
    },
    close: () => {
      child.stdin.end();
      return ended;
    },
  };
}
