import {existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox, runOptions, type SandboxSettings} from '../../../test/support/open-sandbox.ts';
import {openTestRuntime, tempDirectory} from '../../../test/support/open-test-runtime.ts';
import {needs} from '../../../test/support/parts.ts';
import {systemClock} from '../../core/clock.ts';
import type {Json} from '../../core/result.ts';
import {countTokens} from '../../web/tokens/count-tokens.ts';
import {openWorkspaceSession} from '../files/session.ts';
import {readOutputTool} from './read-output.ts';
import {runTool} from './run.ts';

const SETTINGS = {
  sandbox: 'none',
  allow_insecure_none: true,
  timeout_seconds: 20,
  max_timeout_seconds: 20,
} as const;

const LINES = 'i=0; while [ $i -lt 30000 ]; do echo "line $i"; i=$((i + 1)); done';

type Data = {[name: string]: Json};

async function open(
  options: Partial<Parameters<typeof openTestRuntime>[0]> = {},
  settings: SandboxSettings = {},
) {
  const opened = openSandbox({settings: SETTINGS});
  onTestFinished(() => opened.close());
  const session = openWorkspaceSession({
    root: opened.workspace,
    stateDirectory: await tempDirectory(),
    programDirectories: [],
    clock: systemClock,
  });
  if (!session.ok) throw new Error(session.error.message);
  onTestFinished(() => session.value.close());
  const run = runTool(opened.sandbox, runOptions({...SETTINGS, ...settings}));
  const tool = readOutputTool(session.value);
  const runtime = await openTestRuntime({tools: [run, tool], approval: {mode: 'auto'}, ...options});
  const command = (text: string) => runtime.call('run', {command: text});
  const ask = async (params: Data) => {
    const {data, error} = await runtime.call('read_output', params);
    return {data: data as Data, error, text: data === null ? '' : tool.renderText(data)};
  };
  return {run, tool, runtime, command, ask};
}

describe('read_output', () => {
  test('red team F14: without a step, only the last command of the same client is meant', async () => {
    const {command, runtime} = await open();
    await command('echo of the other');
    const [mine, stranger] = [{client: {}}, {client: {}}];
    await runtime.call('run', {command: 'echo of mine'}, mine);
    await command('echo of the other');
    expect((await runtime.call('read_output', {}, mine)).data).toMatchObject({step: 2, content: 'of mine\n'});
    expect((await runtime.call('read_output', {}, stranger)).error?.message).toContain(
      'No run is known to be yours. Name it with step',
    );
    expect((await runtime.call('read_output', {step: 2}, stranger)).status).toBe('success');
  });

  test('W17: what the answer of a command left out can be asked for by the call that its text names', {
    tags: 'slow',
  }, async () => {
    const {run, command, ask, runtime} = await open();
    const ran = await command(LINES);
    const text = run.renderText(ran.data);
    expect(text).toContain('[29,801 of 30,000 lines left out; read_output step=1 query="…" searches them]');
    expect(text).not.toContain('logs/');
    const found = await ask({step: 1, query: 'LINE 2500'});
    expect(found.text.split('\n').slice(0, 3)).toEqual([
      '[stdout of step 1: 11 matches in 30,000 lines]',
      '2501:line 2500',
      '25001:line 25000',
    ]);
    const page = await ask({start_line: 20_001, end_line: 20_002});
    expect(page.text).toBe('[stdout of step 1: lines 20001-20002 of 30,000]\nline 20000\nline 20001\n');
    expect(page.data).toMatchObject({truncated: false, complete: true, step: 1});
    const {artifacts} =
      (await runtime.events()).find(({event}) => event === 'tool_call_finished')?.payload ?? {};
    expect(artifacts).toContainEqual(
      expect.objectContaining({path: 'output/step_0001_stdout.txt', bytes: 318_890}),
    );
  });

  test('W17: a page says where it goes on, and its pages are the whole', {tags: 'slow'}, async () => {
    const {command, ask} = await open();
    await command(LINES);
    let content = '';
    let start: number | undefined = 1;
    let pages = 0;
    while (start !== undefined) {
      const {data, text} = await ask({start_line: start});
      expect(text.length).toBeLessThan(40_000);
      content += String(data['content']);
      start = (data['next'] as {start_line: number} | undefined)?.start_line;
      pages += 1;
    }
    expect(pages).toBeGreaterThan(5);
    expect(content).toBe(Array.from({length: 30_000}, (_, at) => `line ${at}\n`).join(''));
  });

  test('W18: the last run by default, and either stream', async () => {
    const {command, ask} = await open();
    await command('echo one');
    await command('echo two; echo three >&2');
    expect((await ask({})).text).toBe('[stdout of step 2: lines 1-1 of 1]\ntwo\n');
    expect((await ask({stream: 'stderr'})).data).toMatchObject({step: 2, content: 'three\n'});
    expect((await ask({step: 1})).data).toMatchObject({content: 'one\n'});
    expect((await ask({step: 1, stream: 'stderr'})).text).toBe('[stderr of step 1: empty]');
    expect((await ask({step: 3})).error).toMatchObject({
      error_type: 'invalid_params',
      message: expect.stringContaining('Runs are 1, 2.'),
    });
  });

  test('policy: without a run, and with lines that are not there, it says so', async () => {
    const {command, ask} = await open();
    expect((await ask({})).error?.message).toContain('No command has run yet.');
    await command('echo one');
    expect((await ask({start_line: 5})).error?.message).toContain('It has 1 lines.');
    expect((await ask({start_line: 2, end_line: 1})).error?.error_type).toBe('invalid_params');
    expect((await ask({start_line: 0})).error?.error_type).toBe('invalid_params');
    expect((await ask({query: 'a\nb'})).error?.error_type).toBe('invalid_params');
    expect((await ask({query: '(', is_regex: true})).error?.error_type).toBe('ripgrep_error');
  });

  test('W4: a regular expression is ripgrep’s, over lines without the colours of a terminal', async () => {
    const {command, ask} = await open();
    await command(`printf 'a\\n\\033[31mERR\\033[0mOR x\\nb\\nerror 12\\nc\\n10%%\\r99%%\\n'`);
    const found = await ask({query: '^error (x|\\d+)$', is_regex: true, context_lines: 1});
    expect(found.text).toBe('[stdout of step 1: 2 matches in 6 lines]\n1-a\n2:ERROR x\n3-b\n4:error 12\n5-c');
    expect((await ask({query: '^error', is_regex: true, start_line: 3})).data).toMatchObject({
      matches: [{line: 4}],
      total_matches: 1,
    });
    expect((await ask({query: '10%'})).text).toBe('[stdout of step 1: 0 matches in 6 lines]');
    expect((await ask({query: 'error', context_lines: 1, end_line: 2})).data).toMatchObject({
      matches: [{line: 2, context_before: ['a'], context_after: ['b']}],
    });
  });

  test('policy: whole outputs have room for so much in a session, and the oldest go first', async () => {
    const {command, ask, runtime} = await open({}, {kept_output_mb: 1});
    const long = (name: string) => command(`yes ${name} | head -c 400000; yes err | head -c 120000 >&2`);
    for (const name of ['aaaaaaa', 'bbbbbbb', 'ccccccc']) await long(name);
    const sizes = (): readonly number[] =>
      [1, 2, 3].flatMap(step =>
        ['stderr', 'stdout'].map(
          stream => statSync(join(runtime.directory, `output/step_000${step}_${stream}.txt`)).size,
        ),
      );
    expect(sizes()).toEqual([0, 0, 120_000, 400_000, 120_000, 400_000]);
    const gone = await ask({step: 1, start_line: 20_000});
    expect(gone.error).toMatchObject({
      error_type: 'invalid_params',
      message: expect.stringContaining('tools.run.kept_output_mb'),
    });
    expect((await ask({step: 2, start_line: 20_000, end_line: 20_000})).data).toMatchObject({
      content: 'bbbbbbb\n',
      complete: true,
    });
    // Its head and tail are what the record of the run has.
    expect(statSync(join(runtime.directory, 'logs/tool_step_0001_stdout.txt')).size).toBeGreaterThan(102_000);
  });

  test('policy: 16 MiB of a stream are kept, and what came later is said to be missing', {
    tags: 'stress',
  }, async () => {
    const {command, ask, runtime} = await open();
    const ran = await command('yes 0123456 | head -c 20000000; echo end');
    expect(ran.data).toMatchObject({stdout_bytes: 20_000_004});
    expect(statSync(join(runtime.directory, 'output/step_0001_stdout.txt')).size).toBe(16 * 1024 * 1024 + 1);
    const {data, text} = await ask({start_line: 2_097_152});
    expect(data).toMatchObject({complete: false, total_lines: 2_097_152, content: '0123456\n'});
    expect(text).toContain('not all of it was kept');
    const counted = await ask({query: '3'});
    expect(counted.data).toMatchObject({total_matches: 2_097_152, truncated: true});
    const {next} = counted.data as {next: {start_line: number}};
    const more = (await ask({query: '3', start_line: next.start_line})).data;
    expect(more['matches']).toContainEqual(expect.objectContaining({line: next.start_line}));
    const regex = await ask({query: '^0.*6$', is_regex: true});
    expect(regex.data).toMatchObject({total_matches: 2_097_152});
  });

  test('ruling E7: an answer keeps the limit, and a long line is shown in part', {
    ...needs('Perl'),
    tags: 'slow',
  }, async () => {
    const {command, ask} = await open({maxOutputBytes: 2000});
    await command(`perl -e 'print "\\x01\\xc3\\xa4<" x 100_000, "\\n", "short\\n" x 20'`);
    const {data} = await ask({});
    expect(JSON.stringify(data).length).toBeLessThan(2000);
    expect(data).toMatchObject({truncated: true, start_line: 1, end_line: 1, next: {start_line: 2}});
    expect(String(data['content'])).toMatch(/more characters\]\n$/);
    expect((await ask({query: '<'})).data).toMatchObject({matches: [{line: 1}], total_matches: 1});
    expect((await ask({query: 'short', context_lines: 10})).data).toMatchObject({truncated: true});
  });

  test('policy: a session that goes on reads what an earlier process ran', {tags: 'slow'}, async () => {
    const directory = join(await tempDirectory(), 'run');
    const first = await open({directory});
    await first.command(LINES);
    await first.runtime.runtime.session.close();
    const second = await open({directory});
    expect((await second.ask({query: 'line 12345'})).data).toMatchObject({step: 1, total_matches: 1});
  });

  test('policy: what is no regular file of the run is not read', async () => {
    const {command, ask, runtime} = await open();
    await command('echo one');
    const secret = join(await tempDirectory(), 'secret');
    writeFileSync(secret, 'secret');
    mkdirSync(join(runtime.directory, 'output'));
    symlinkSync(secret, join(runtime.directory, 'output/step_0001_stdout.txt'));
    const {error, text} = await ask({});
    expect(error?.error_type).toBe('io_error');
    expect(text).toBe('');
  });

  test('policy: an output that its artifact holds whole is kept once', async () => {
    const {command, runtime} = await open();
    await command('echo one');
    expect(existsSync(join(runtime.directory, 'output'))).toBe(false);
    await command('head -c 102401 /dev/zero | tr "\\0" x');
    expect(readFileSync(join(runtime.directory, 'output/step_0002_stdout.txt'), 'utf8')).toBe(
      'x'.repeat(102_401),
    );
  });

  test('W18: its definition costs a model at most 160 tokens', async () => {
    const {tool} = await open();
    const {name, description, paramsSchema} = tool;
    expect(countTokens(JSON.stringify({name, description, inputSchema: paramsSchema}))).toBeLessThanOrEqual(
      160,
    );
    expect(tool).toMatchObject({action: undefined, annotations: {readOnly: true}});
  });
});
