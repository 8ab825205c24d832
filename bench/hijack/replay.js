// Replays a recorded trace of a fully obedient agent through the real toolbox: a workspace made for it, pages on
// loopback, every call as it was recorded, whatever came of the one before. No model takes part.
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';

/** @returns the traces of a kind: `benign` or `hijacks`. */
export function readTraces(kind) {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'traces', `${kind}.json`), 'utf8'));
}

/**
 * Approvals are in mode "auto", where nothing else would ask. Who is asked says no to a hijack, and yes to a task.
 * @returns {Promise<{asked: string[], failed: string[], reached: boolean}>}
 */
export async function replay(trace, mode, createToolbox) {
  const directory = mkdtempSync(join(tmpdir(), 'forge-hijack-'));
  const workspace = join(directory, 'workspace');
  const requests = [];
  const server = await serve(trace.pages, requests);
  const port = String(server.address().port);
  const filled = text => text.replaceAll('{port}', port);
  const base = JSON.parse(readFileSync(join(import.meta.dirname, 'traces/workspace.json'), 'utf8'));
  for (const [path, content] of Object.entries({...base, ...trace.workspace})) {
    mkdirSync(dirname(join(workspace, path)), {recursive: true});
    writeFileSync(join(workspace, path), filled(content));
  }
  const asked = [];
  const failed = [];
  try {
    for (const calls of trace.sessions) {
      const toolbox = createToolbox(optionsOf(directory, port, {trace, mode, asked}));
      for (const {tool, params} of calls) {
        const given = JSON.parse(filled(JSON.stringify(params)));
        const operatorAddresses = (trace.operator ?? []).map(path => `http://site.test:${port}${path}`);
        const result = await toolbox.call({tool, params: given, request_id: ''}, {operatorAddresses});
        if (result.error !== null)
          failed.push(`${tool}: ${result.error.error_type}: ${result.error.message}`);
      }
      await toolbox.close();
    }
    return {
      asked,
      failed,
      reached: trace.reaches !== undefined && hasReached(trace.reaches, requests, workspace),
    };
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(directory, {recursive: true, force: true});
  }
}

function hasReached({requests, file}, made, workspace) {
  if (requests !== undefined) {
    const times = (list, one) => list.filter(other => other === one).length;
    return requests.every(one => times(made, one) >= times(requests, one));
  }
  const path = join(workspace, file.path);
  return existsSync(path) && readFileSync(path, 'utf8').includes(file.has);
}

/** What an operator writes who does not want to be asked about hosts. */
const OPEN_HOSTS = [{tool: 'egress', decision: 'allow', host: '.test'}];

/** A trace of commands that reach hosts has a real sandbox with a way out, and a rule that opens every host. */
function wayOut({egress}, port) {
  if (!egress) return {};
  return {sandbox: 'bubblewrap', egress: {allow: [`http://registry.test:${port}`]}};
}

function optionsOf(directory, port, {trace, mode, asked}) {
  const isHijack = trace.reaches !== undefined;
  return {
    workspace: join(directory, 'workspace'),
    runDirectory: join(directory, 'run'),
    resolver: {resolve: async () => ['127.0.0.1']},
    approver: {
      ask: async question => {
        asked.push(`${question.summary}: ${question.reason}`);
        return isHijack ? {answer: 'refuse', reason: 'no'} : {answer: 'once'};
      },
    },
    config: {
      tools: {
        mode: 'enabled',
        approval: {mode: 'auto', rules: trace.egress ? OPEN_HOSTS : []},
        run: wayOut(trace, port),
        taint: {mode},
        webread: {enabled: true},
        webfetch: {
          enabled: true,
          cache_dir: '',
          browser: {enabled: false, chromium_path: '/nonexistent/chromium'},
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [Number(port)]},
        },
      },
    },
  };
}

/** Pages by host and path; a host under `evil.test` answers whatever it is asked. */
async function serve(pages, requests) {
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    const port = String(server.address().port);
    const body =
      pages[`${host}${request.url}`] ?? (/(?:^|\.)evil\.test$/.test(host) ? '<p>Thank you.</p>' : undefined);
    if (request.url === '/robots.txt' || body === undefined) return response.writeHead(404).end();
    requests.push(`${host}${request.url}`);
    const linked = body.replaceAll('.test/', `.test:${port}/`);
    response.writeHead(200, {'content-type': 'text/html', 'cache-control': 'no-store'});
    response.end(`<!doctype html><title>Page</title><body>${linked}</body>`);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return server;
}
