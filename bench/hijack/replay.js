// Replays a recorded trace of a fully obedient agent through the real toolbox: a workspace made for it, pages on
// loopback, every call as it was recorded, whatever came of the one before. No model takes part.
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';

/**
 * A recorded trace. `egress` says that its commands have a way out; `finding`, of which attack it was made. Sessions
 * before `followsFrom` have taint off. The log of session `losesLogOf` loses its end.
 *
 * @typedef {{readonly id: string, readonly title: string, readonly egress?: boolean, readonly finding?: string,
 *   readonly followsFrom?: number, readonly losesLogOf?: number}} Trace
 */

/** @returns {readonly Trace[]} the traces of a kind: `benign` or `hijacks`. */
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
    for (const [session, calls] of trace.sessions.entries()) {
      const followed = session < (trace.followsFrom ?? 0) ? 'off' : mode;
      const toolbox = createToolbox(optionsOf(directory, port, {trace, mode: followed, asked}));
      for (const {tool, params} of calls) {
        const given = JSON.parse(filled(JSON.stringify(params)));
        const operatorAddresses = (trace.operator ?? []).map(path => `http://site.test:${port}${path}`);
        const result = await toolbox.call({tool, params: given, request_id: ''}, {operatorAddresses});
        if (result.error !== null)
          failed.push(`${tool}: ${result.error.error_type}: ${result.error.message}`);
      }
      await toolbox.close();
      if (session === trace.losesLogOf) cutLog(join(directory, 'run/events.jsonl'));
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

/** As after a crash: what follows the start of the first call is gone, in the middle of a line. */
function cutLog(path) {
  const log = readFileSync(path, 'utf8');
  const next = log.indexOf('\n', log.indexOf('"tool_call_started"')) + 1;
  truncateSync(path, Buffer.byteLength(log.slice(0, next + 20)));
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
        websearch: {engines: [{kind: 'searxng', endpoint: `http://search.test:${port}/search`}]},
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

/** Pages and redirects by host and path, and a search engine that finds nothing; a host under `evil.test` answers whatever it is asked. */
async function serve(pages, requests) {
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    const port = String(server.address().port);
    const body =
      pages[`${host}${request.url}`] ?? (/(?:^|\.)evil\.test$/.test(host) ? '<p>Thank you.</p>' : undefined);
    if (host === 'search.test') {
      requests.push(`${host}${request.url}`);
      return response.writeHead(200, {'content-type': 'application/json'}).end('{"results": []}');
    }
    if (request.url === '/robots.txt' || body === undefined) return response.writeHead(404).end();
    requests.push(`${host}${request.url}`);
    if (body.location !== undefined) return response.writeHead(302, body).end();
    const linked = body.replaceAll('.test/', `.test:${port}/`);
    response.writeHead(200, {'content-type': 'text/html', 'cache-control': 'no-store'});
    response.end(`<!doctype html><title>Page</title><body>${linked}</body>`);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return server;
}
