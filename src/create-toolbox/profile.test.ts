import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {createToolbox, type LogEvent, type ToolboxOptions} from '../index.ts';

function toolboxOf(options: ToolboxOptions) {
  const logs: LogEvent[] = [];
  const home = temporaryDirectory();
  const toolbox = createToolbox({
    environment: {env: {}, cwd: home, homeDir: home, tempDir: temporaryDirectory()},
    log: event => logs.push(event),
    ...options,
  });
  onTestFinished(() => toolbox.close());
  return {toolbox, logs, names: toolbox.listTools().map(({name}) => name)};
}

/** What a call would be answered, asked of the policy alone. */
async function decision(toolbox: ReturnType<typeof createToolbox>, tool: string, params: object) {
  const explained = await toolbox.explainPolicy(tool, params as never);
  return explained.ok ? explained.value.verdict.decision : explained.error.code;
}

describe('ruling H7: createToolbox', () => {
  test('with a workspace and nothing else offers every tool, asks about effects, and says so', async () => {
    const {toolbox, logs, names} = toolboxOf({workspace: temporaryDirectory()});
    expect(names).toEqual(expect.arrayContaining(['web_fetch', 'read_file', 'write_file', 'run']));
    expect(toolbox.config.profile).toBe('guarded');
    expect(await decision(toolbox, 'run', {command: 'ls'})).toBe('ask');
    expect(logs.filter(({event}) => event === 'tools_offered')).toEqual([
      expect.objectContaining({level: 'info', message: expect.stringContaining('profile "guarded"')}),
    ]);
    const refused = await toolbox.call({
      tool: 'write_file',
      params: {path: 'a', content: ''},
      request_id: '1',
    });
    expect(refused.error?.error_type).toBe('approval_required');
  });

  test('a configuration that sets one thing changes one thing; one that is off says how to turn it on', async () => {
    expect(toolboxOf({workspace: temporaryDirectory(), config: {}}).names).toHaveLength(18);
    expect(toolboxOf({}).names).toEqual(['web_fetch', 'web_read', 'verify_quote']);
    const config = {tools: {run: {enabled: false}}};
    const {toolbox, names} = toolboxOf({workspace: temporaryDirectory(), config});
    expect(names).toHaveLength(14);
    expect(toolbox.switchedOff).toEqual([
      'run, read_output, wait_for, stop_run are off: tools.run.enabled is false. Pass tools.run.enabled = true in the config of createToolbox.',
    ]);
    const call = await toolbox.call({tool: 'run', params: {command: 'ls'}, request_id: '1'});
    expect(call.error?.message).toContain('Pass tools.run.enabled = true');
    const absent = await toolboxOf({}).toolbox.call({tool: 'read_file', params: {path: 'a'}});
    expect(absent.error?.message).toContain(
      'File tools and run are off: createToolbox was given no workspace.',
    );
  });

  test('a mode that is written down offers nothing', () => {
    const written = toolboxOf({
      workspace: temporaryDirectory(),
      config: {profile: 'guarded', tools: {mode: 'disabled'}},
    });
    expect(written.names).toEqual([]);
    expect(written.logs.filter(({event}) => event === 'tools_offered')).toEqual([]);
  });
});

describe('ruling H7: the profiles', () => {
  test('read-only offers nothing that changes files or runs commands, and says why', async () => {
    const {toolbox, names} = toolboxOf({workspace: temporaryDirectory(), config: {profile: 'read-only'}});
    const all = toolboxOf({workspace: temporaryDirectory()}).toolbox.listTools();
    const reading = all.filter(({annotations, name}) => annotations.readOnly || name === 'web_fetch');
    expect(names).toEqual(expect.arrayContaining(['read_file', 'search', 'web_fetch']));
    expect(names.filter(name => !reading.some(tool => tool.name === name))).toEqual(
      names.filter(name => ['web_read', 'verify_quote'].includes(name)),
    );
    const refused = await toolbox.call({tool: 'run', params: {command: 'ls'}, request_id: '1'});
    expect(refused.error).toMatchObject({
      error_type: 'tool_disabled',
      message: expect.stringContaining('tools.access is "read-only"'),
    });
  });

  test('trusted lets fetches, edits and sandboxed commands pass, and deny and ask rules hold', async () => {
    const rule = {host: '', path: '', command_prefix: '', match: [], not_match: [], reason: ''};
    const {toolbox} = toolboxOf({
      workspace: temporaryDirectory(),
      config: {
        profile: 'trusted',
        tools: {
          approval: {
            denylist: ['apply_patch'],
            rules: [
              {...rule, tool: 'run', decision: 'deny', command_prefix: 'rm'},
              {...rule, tool: 'run', decision: 'ask', command_prefix: 'git push'},
            ],
          },
        },
      },
    });
    expect(await decision(toolbox, 'web_fetch', {url: 'https://example.com/'})).toBe('allow');
    expect(await decision(toolbox, 'write_file', {path: 'a', content: ''})).toBe('allow');
    expect(await decision(toolbox, 'run', {command: 'ls'})).toBe('allow');
    expect(await decision(toolbox, 'run', {command: 'rm -rf x'})).toBe('deny');
    expect(await decision(toolbox, 'run', {command: 'git push'})).toBe('ask');
    const denied = await toolbox.call({tool: 'apply_patch', params: {unified_diff: 'x'}, request_id: '1'});
    expect(denied.error?.error_type).not.toBe('approval_required');
  });

  test('trusted asks about commands that would run without a sandbox, unless the mode is written down', async () => {
    const run = {sandbox: 'none', allow_insecure_none: true} as const;
    const trusted = toolboxOf({
      workspace: temporaryDirectory(),
      config: {profile: 'trusted', tools: {run}},
    }).toolbox;
    expect(await decision(trusted, 'run', {command: 'ls'})).toBe('ask');
    expect(await decision(trusted, 'write_file', {path: 'a', content: ''})).toBe('allow');
    const refused = await trusted.call({tool: 'run', params: {command: 'ls'}, request_id: '1'});
    expect(refused.error).toMatchObject({error_type: 'approval_required', details: {rule: 'profile'}});
    const written = toolboxOf({
      workspace: temporaryDirectory(),
      config: {tools: {mode: 'enabled', approval: {mode: 'auto'}, run}},
    }).toolbox;
    expect(await decision(written, 'run', {command: 'ls'})).toBe('allow');
  });

  test('the first refusal names both ways out, later ones the command alone', async () => {
    const {toolbox} = toolboxOf({workspace: temporaryDirectory()});
    const call = async (path: string) =>
      (await toolbox.call({tool: 'write_file', params: {path, content: ''}, request_id: path})).error
        ?.message;
    expect(await call('a')).toMatch(/forge-tools approve \w+ .*--profile trusted/);
    const second = await call('b');
    expect(second).toContain('forge-tools approve');
    expect(second).not.toContain('--profile');
  });
});
