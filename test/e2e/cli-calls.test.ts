import {spawn} from 'node:child_process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {cliConfig} from '../support/cli-config.ts';
import {startHttpServer} from '../support/http-server.ts';
import {runBuiltCli} from '../support/run-built-cli.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
// The guard refuses it before anything is sent.
const PRIVATE = '{"url": "http://10.0.0.1/"}';

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program and types `answers[text]` once `text` is on its output. */
function converse(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  answers: readonly (readonly [string, string])[] = [],
): Promise<Ended> {
  const child = spawn(command, args, {env: {PATH: process.env['PATH'], ...env}, cwd: EXAMPLES});
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const waiting = [...answers];
  let output = '';
  let from = 0;
  const listen = (part: Buffer): void => {
    output += part.toString();
    const [next] = waiting;
    if (next === undefined || !output.slice(from).includes(next[0])) return;
    waiting.shift();
    from = output.length;
    child.stdin.write(next[1]);
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code => resolve({code, output}));
  });
}

describe('examples/forge_tools.py', () => {
  test('policy: calls of one session run at the same time, each gets its own answer', async () => {
    const {env, flags} = cliConfig('[tools.approval]\nallowlist = ["web_fetch"]\n');
    const script = `
import json, sys
from forge_tools import ForgeTools
tools = ForgeTools("--log-level", "silent", *sys.argv[2:], command=("node", sys.argv[1]))
calls = [tools.submit("web_fetch", url=f"http://10.0.0.1/{n}") for n in range(200)]
answers = [call.result() for call in calls]
alone = tools.call("web_fetch", url="not a url")
print(json.dumps([len(answers), answers[0]["error"]["error_type"], alone["error"]["error_type"], tools.close()]))
`;
    const {code, output} = await converse('python3', ['-c', script, MAIN, ...flags], env);
    expect({code, output: JSON.parse(output)}).toEqual({
      code: 0,
      output: [200, 'ssrf_blocked', 'invalid_url', 0],
    });
  });

  test('policy: it is about thirty lines, and needs nothing but Python', async () => {
    const {output} = await converse('python3', ['-c', 'print(open("forge_tools.py").read())'], {});
    expect(output.trim().split('\n').length).toBeLessThan(35);
    expect(output.match(/^(?:import|from) .*$/gm)).toEqual([
      'import itertools, json, subprocess, threading',
      'from concurrent.futures import Future',
    ]);
  });
});

describe('forge-tools call on a terminal', () => {
  const onTerminal = (
    env: Readonly<Record<string, string>>,
    flags: readonly string[],
    answers: [string, string][],
  ) => {
    const command = [process.execPath, MAIN, 'call', 'web_fetch', PRIVATE, ...flags]
      .map(word => `'${word}'`)
      .join(' ');
    return converse('script', ['-qefc', command, '/dev/null'], {...env, TERM: 'dumb'}, answers);
  };

  test('ruling H4 it asks at the prompt, and a no reaches the result with its reason', async () => {
    const {env, flags} = cliConfig();
    const {code, output} = await onTerminal(env, flags, [
      ['Allow it?', 'n\n'],
      ['Why not?', 'not that host\n'],
    ]);
    expect(code).toBe(1);
    expect(output).toContain('web_fetch http://10.0.0.1/ (http mode)');
    expect(output).toContain('said no: not that host');
  });

  test('ruling H4 what was allowed once is run', async () => {
    const {env, flags} = cliConfig();
    const {code, output} = await onTerminal(env, flags, [['Allow it?', 'once\n']]);
    expect(code).toBe(1);
    expect(output).toContain('ssrf_blocked: 10.0.0.1 is a private address');
  });

  test('ruling H3 a rule that was taken, edited and kept settles the next call, in another session', async () => {
    const {env, flags} = cliConfig();
    const first = await onTerminal(env, flags, [
      ['Allow it?', 'a\n'],
      ['type another host', '10.0.0.2\n'],
      ['type another host', '\n'],
      ['[k]eep it', 'k\n'],
    ]);
    expect(first.output).toContain('The rule: allow web_fetch where host is\r\n  │ "10.0.0.1"');
    expect(first.output).toContain('The rule does not allow this call.');
    expect(first.output).toContain('ssrf_blocked');
    const second = await onTerminal(env, flags, []);
    expect(second.output).toContain('ssrf_blocked');
    expect(second.output).not.toContain('Allow it?');
  });

  test('policy: Ctrl-C at the prompt is exit code 130', async () => {
    const {env, flags} = cliConfig();
    const {code, output} = await onTerminal(env, flags, [['Allow it?', '\u0003']]);
    expect(code).toBe(130);
    expect(output).toContain('cancelled');
  });
});

test('policy: a command that leaves in the middle of --jsonl leaves a run that verifies', async () => {
  const {env, flags} = cliConfig();
  const run = `${env['XDG_STATE_HOME']}/run`;
  const child = spawn(process.execPath, [MAIN, 'call', '--jsonl', '--run-dir', run, ...flags], {
    env: {PATH: process.env['PATH'], ...env},
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => {});
  child.stdin.write(`{"request_id":"a","tool":"web_fetch","params":${PRIVATE}}\n`.repeat(50));
  await new Promise(resolve => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise(resolve => child.once('close', resolve));
  expect((await runBuiltCli(['events', 'verify', run])).code).toBe(0);
});

test('regression: many calls at the same time are no leak of listeners', async () => {
  const waiting: (() => void)[] = [];
  const server = await startHttpServer({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    '*': (_, response) => {
      waiting.push(() => response.writeHead(200, {'Content-Type': 'text/plain'}).end('page'));
      // Nobody is answered before all have asked.
      if (waiting.length === 30) for (const answer of waiting) answer();
    },
  });
  onTestFinished(() => server.close());
  const {env, flags} = cliConfig(
    `[tools.approval]\nallowlist = ["web_fetch"]\n[tools.webfetch.security]\nallow_insecure_overrides = true\nblock_loopback = false\nallowed_ports = [${server.port}]\n`,
  );
  const child = spawn(process.execPath, [MAIN, 'call', '--jsonl', '--concurrency', '30', ...flags], {
    env: {PATH: process.env['PATH'], ...env},
  });
  child.stdin.end(
    Array.from({length: 30}, (_, at) => {
      const params = {url: `${server.origin}/${at}`};
      return `${JSON.stringify({request_id: String(at), tool: 'web_fetch', params})}\n`;
    }).join(''),
  );
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(out.trim().split('\n')).toHaveLength(30);
  expect(err).not.toContain('MaxListenersExceededWarning');
});
