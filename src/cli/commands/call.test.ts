import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {type CliOptions, runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

// The guard refuses it before anything is sent, so that no call needs a network.
const PRIVATE = '{"url": "http://10.0.0.1/page?token=secret"}';
/** The guard can refuse it only by its name, so it is asked about; no resolver knows the name (RFC 2606). */
const UNKNOWN = '{"url": "http://page.invalid/page?token=secret"}';
const ALLOWED = '[tools.approval]\nallowlist = ["web_fetch"]\n';

function call(argv: readonly string[], {more = '', ...options}: CliOptions & {more?: string} = {}) {
  const {cwd, env, flags} = cliConfig(more);
  return runCliHere(['call', ...argv, ...flags, '--log-level', 'silent'], {cwd, env, ...options});
}

describe('forge-tools call', () => {
  test('policy: a failure is a ToolError line on stderr and exit code 1', async () => {
    const {code, stdout, stderr} = await call(['web_fetch', PRIVATE], {more: ALLOWED});
    expect({code, stdout}).toEqual({code: 1, stdout: ''});
    expect(JSON.parse(stderr)).toMatchObject({error_type: 'ssrf_blocked', retryable: false});
    expect(stderr).not.toContain('secret');
  });

  test('policy: --json is the exact ToolResult on one line, also of a failure', async () => {
    const {code, stdout, stderr} = await call(['web_fetch', PRIVATE, '--json'], {more: ALLOWED});
    expect({code, stderr}).toEqual({code: 1, stderr: ''});
    expect(stdout).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(stdout)).toMatchObject({
      request_id: expect.stringMatching(/^cli-[0-9a-f]{16}$/),
      tool: 'web_fetch',
      status: 'error',
      error: {error_type: 'ssrf_blocked'},
      exit_code: null,
    });
  });

  test('policy: parameters may come from standard input', async () => {
    const {stdout} = await call(['web_fetch', '-', '--json'], {input: PRIVATE, more: ALLOWED});
    expect(JSON.parse(stdout)).toMatchObject({error: {error_type: 'ssrf_blocked'}});
  });

  test('ruling H2 missing parameters are {}, and the tool says what it needs', async () => {
    const {code, stderr} = await call(['web_fetch']);
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({error_type: 'bad_args', details: {field: 'url'}});
  });

  test('ruling H3 without a terminal no question is asked, and --allow is the way', async () => {
    const refused = await call(['web_fetch', UNKNOWN]);
    expect(JSON.parse(refused.stderr)).toMatchObject({error_type: 'approval_required'});
    const allowed = await call(['web_fetch', UNKNOWN, '--allow', 'web_fetch']);
    expect(JSON.parse(allowed.stderr)).toMatchObject({error_type: 'dns_failed'});
    const denied = '[tools.approval]\ndenylist = ["web_fetch"]\n';
    const still = await call(['web_fetch', UNKNOWN, '--allow', 'web_fetch'], {more: denied});
    expect(JSON.parse(still.stderr)).toMatchObject({error_type: 'approval_denied'});
  });

  test('ruling H4 at a terminal it asks, and runs what was allowed', async () => {
    const {stderr} = await call(['web_fetch', UNKNOWN], {answers: ['once']});
    expect(stderr).toMatch(
      /^web_fetch needs an approval\.\n {2}Why it is asked: .*\n {2}│ web_fetch http:\/\/page\.invalid\/page \(http mode\)\n/,
    );
    expect(stderr).toContain('Why it is asked: tools.approval.mode is "prompt".');
    expect(stderr).toContain('dns_failed: ');
    expect(stderr).not.toContain('secret');
  });

  test('ruling H4 a no with its reason reaches the result', async () => {
    const {code, stdout} = await call(['web_fetch', UNKNOWN, '--json'], {answers: ['n', 'not that host']});
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {error_type: 'approval_denied', details: {reason: 'not that host'}},
    });
  });

  test.each([
    ['an address that the guard refuses', 'http://169.254.169.254/', '', 'ssrf_blocked'],
    ['a port that the guard refuses', 'http://page.invalid:8017/', '', 'port_blocked'],
    ['a user name', 'http://me@page.invalid/', '', 'invalid_url'],
    [
      'what a rule denies',
      'http://page.invalid/',
      '[[tools.approval.rules]]\ntool = "web_fetch"\ndecision = "deny"\nhost = "page.invalid"\n',
      'approval_denied',
    ],
  ])('nobody is asked about %s', async (_, url, more, code) => {
    for (const tool of ['web_fetch', 'web_read']) {
      const asked = await call([tool, JSON.stringify({url})], {
        more: more.replace('web_fetch', tool),
        answers: [],
      });
      expect(asked.stderr).toMatch(new RegExp(`^${code}: `));
      expect(asked.stderr).not.toContain('needs an approval');
    }
  });

  test('a question about a command has the command once', async () => {
    const {stderr} = await call(['run', '{"command": "echo one"}'], {answers: ['n', '']});
    expect(stderr).toMatch(/^run needs an approval\.\n {2}Why it is asked: .*\n {2}│ echo one\n(?! {2}│)/);
    expect(stderr.match(/echo one/g)).toHaveLength(1);
  });

  test('ruling W10 --run-dir gets the events; a second call goes on in it', async () => {
    const runDirectory = join(temporaryDirectory(), 'run');
    for (let round = 0; round < 2; round++) {
      await call(['web_fetch', PRIVATE, '--run-dir', runDirectory], {more: ALLOWED});
    }
    const events = readFileSync(join(runDirectory, 'events.jsonl'), 'utf8').trim().split('\n');
    const steps = events.map(line => JSON.parse(line).payload.step).filter(step => step !== undefined);
    expect(new Set(steps)).toEqual(new Set([1, 2]));
    expect(await runCliHere(['events', 'verify', runDirectory])).toMatchObject({code: 0});
  });

  test.each([
    [[], 'needs the name of a tool'],
    [['a', '{}', '{}'], 'one tool and one JSON object'],
    [['a', '{'], 'not valid JSON'],
    [['a', '[1]'], 'as a JSON object, got [1]'],
    [['--jsonl', 'a'], 'come from the lines'],
    [['a', '--concurrency', '2'], 'goes with --jsonl'],
    [['--jsonl', '--concurrency', '65'], 'from 1 to 64'],
    [['a', '--allow', 'x,,y'], 'names separated by commas'],
    [['a', '--bogus'], '--bogus'],
  ])('policy: %j is wrong usage', async (argv, text) => {
    const {code, stderr} = await call(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(text);
  });

  test('policy: a name in --allow that is nothing stops start-up', async () => {
    const {code, stderr} = await call(['web_fetch', '{}', '--allow', 'web_fetsh']);
    expect(code).toBe(3);
    expect(stderr).toContain(
      'Configuration error: --allow names "web_fetsh", which is no tool and no action.',
    );
  });

  test('policy: an interrupted call is exit code 130', async () => {
    const interrupt = new AbortController();
    interrupt.abort();
    const {code, stdout} = await call(['web_fetch', PRIVATE, '--json'], {
      signal: interrupt.signal,
      more: ALLOWED,
    });
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({error: {error_type: 'cancelled'}});
  });
});

describe('forge-tools call --jsonl', () => {
  test('policy: one session for all lines; failed calls do not fail it', async () => {
    const runDirectory = join(temporaryDirectory(), 'run');
    const lines = ['a', 'b', 'c'].map(id =>
      JSON.stringify({request_id: id, tool: 'web_fetch', params: JSON.parse(PRIVATE)}),
    );
    const {code, stdout} = await call(['--jsonl', '--run-dir', runDirectory, '--concurrency', '1'], {
      input: `${lines.join('\n')}\noops\n`,
      more: ALLOWED,
    });
    expect(code).toBe(0);
    const results = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(results.map(({request_id, error}) => [request_id, error.error_type])).toEqual([
      ['a', 'ssrf_blocked'],
      ['b', 'ssrf_blocked'],
      ['c', 'ssrf_blocked'],
      ['', 'invalid_params'],
    ]);
  });
});
