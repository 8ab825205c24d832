// What a hook answers to events as the hosts send them. The events follow the hosts' documentations: Claude Code 2.1
// (hooks reference, October 2026), Codex 0.124 (generated schemas of its hooks), Gemini CLI (hooks reference, 2026),
// Cursor 2.0 (hooks, beforeShellExecution and others).
import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

/** A project, and hooks that are called for it. */
function place(config = '') {
  const home = temporaryDirectory();
  const root = join(home, 'project');
  const file = join(home, 'config.toml');
  mkdirSync(join(root, '.git/hooks'), {recursive: true});
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/a.ts'), 'a\n');
  symlinkSync('/etc', join(root, 'link'));
  symlinkSync('.git/hooks', join(root, 'hooks-of-git'));
  symlinkSync('src', join(root, 'inside'));
  writeFileSync(file, config);
  const hook = async (host: string, event: object | string, ...flags: readonly string[]) => {
    const input = typeof event === 'string' ? event : JSON.stringify(event);
    const env = {FORGE_TOOLS_CONFIG: file};
    const ended = await runCliHere(['hook', host, ...flags], {cwd: root, homeDir: home, env, input});
    return {...ended, json: ended.stdout === '' ? undefined : JSON.parse(ended.stdout)};
  };
  const call = (tool_name: string, tool_input: object) => ({
    session_id: 's',
    cwd: root,
    hook_event_name: 'PreToolUse',
    tool_name,
    tool_input,
  });
  /** What Claude Code is told. */
  const verdict = async (tool: string, input: object, ...flags: readonly string[]): Promise<string> => {
    const {json, code} = await hook('claude-code', call(tool, input), ...flags);
    const decision = json?.hookSpecificOutput?.permissionDecision ?? 'pass';
    expect(code).toBe(decision === 'deny' ? 2 : 0);
    return decision;
  };
  return {root, hook, call, verdict};
}

test.each([
  // The host asks about what no rule of ours speaks of.
  ['npm test', 'pass'],
  ['cat src/a.ts | grep a > out.txt', 'pass'],
  ['npm install left-pad@1.3.0.2', 'pass'],
  ['curl -s https://example.com/a', 'pass'],
  ['curl http://169.254.169.254/latest/meta-data', 'deny'],
  ['curl -s 169.254.169.254', 'deny'],
  ['x=http://[::1]/; wget "$x"', 'deny'],
  ["git clone 'http://10.1.2.3/repo.git'", 'deny'],
  ['exec 3<>/dev/tcp/192.168.0.1/80', 'deny'],
  ['curl http://localhost:3000/', 'deny'],
  ['curl https://example.com:8443/', 'ask'],
  ['echo x > .git/hooks/pre-commit', 'ask'],
  ['sed -i s/a/b/ .git/config', 'ask'],
  ["tee .git/hooks/post-merge <<'E'\nx\nE", 'ask'],
  ['python3 -c \'open(".git/config","w")\'', 'ask'],
  ['cp evil .git/hooks/pre-push', 'ask'],
  ['cp evil .g"i"t/hooks/pre-push', 'ask'],
  ['cp evil .g\\it/hooks/pre-push', 'ask'],
  ['echo x > link/passwd', 'ask'],
  ['cp evil link/passwd', 'ask'],
  ['echo x > hooks-of-git/pre-commit', 'ask'],
  ['cp evil hooks-of-git/pre-commit', 'ask'],
  ['cp evil inside/a.ts', 'pass'],
  ['link/hostname --help', 'pass'],
  ['echo x > /etc/x', 'ask'],
  ['echo x >> ~/.bashrc', 'ask'],
  ['make > /dev/null 2>&1', 'pass'],
  ['make 2> errors.txt', 'pass'],
  ['curl localhost', 'deny'],
  ['curl -s me@localhost:3000/a', 'deny'],
  ['ssh root@10.0.0.1', 'deny'],
  ['scp a root@192.168.1.1:/b', 'deny'],
  ['git clone ssh://git@10.0.0.1/a.git', 'deny'],
  ['curl 169.254."169".254', 'deny'],
  ['wget 2852039166', 'deny'],
  ['nc 127.1 80', 'deny'],
  ['git clone git@github.com:a/b.git', 'pass'],
  ['git clone ssh://git@github.com/a/b.git', 'pass'],
  ['git commit -m "in 1.2"', 'pass'],
  [Array.from({length: 100_000}, (_, at) => `./f${at}`).join(' '), 'ask'],
])('the command %j of a host: %s', async (command, expected) => {
  expect(await place().verdict('Bash', {command, description: 'd'})).toBe(expected);
});

test.each(['a.', '\n', '> ', 'curl ', '://', '"', '\\', ' ', ';', 'x@'])(
  'a command of %j alone is decided in a moment',
  {timeout: 20_000},
  async part => {
    await place().verdict('Bash', {command: `${part.repeat(200_000)};`});
  },
);

test('what a hook cannot see passes', async () => {
  const {verdict} = place();
  for (const command of ['d=.gi; echo x > "$d"t/hooks/a', 'sh made-before.sh', 'curl "$(cat address)"']) {
    expect(await verdict('Bash', {command})).toBe('pass');
  }
});

test('files of a host: rules and protected paths hold, other places are asked about', async () => {
  const rule =
    '[[tools.approval.rules]]\ntool = "write_file"\npath = "src/**"\ndecision = "deny"\nreason = "Generated."\n';
  const {root, verdict} = place();
  expect(await verdict('Write', {file_path: join(root, 'src/a.ts'), content: 'b'})).toBe('pass');
  expect(await verdict('Edit', {file_path: join(root, '.git/config'), old_string: 'a'})).toBe('deny');
  expect(await verdict('MultiEdit', {file_path: join(root, 'link/x'), edits: []})).toBe('deny');
  expect(await verdict('Write', {file_path: '/etc/x', content: 'b'})).toBe('ask');
  expect(await verdict('Write', {file_path: join(root, '../x'), content: 'b'})).toBe('ask');
  expect(await verdict('Read', {file_path: join(root, 'src/a.ts')})).toBe('pass');
  expect(await verdict('Read', {file_path: join(root, 'link/passwd')})).toBe('ask');
  expect(await verdict('Read', {file_path: '/usr/include/stdio.h'})).toBe('pass');
  const ruled = place(rule);
  expect(await ruled.verdict('Write', {file_path: join(ruled.root, 'src/a.ts'), content: 'b'})).toBe('deny');
  expect(await ruled.verdict('Write', {file_path: join(ruled.root, 'src/new.ts'), content: 'b'})).toBe(
    'deny',
  );
  expect(await ruled.verdict('Write', {file_path: join(ruled.root, 'b.ts'), content: 'b'})).toBe('pass');
  expect(await ruled.verdict('Bash', {command: 'make > src/a.ts'})).toBe('deny');
  expect(await ruled.verdict('Bash', {command: 'make > b.ts'})).toBe('pass');
});

test('commands and addresses of a host: rules hold as for our own tools', async () => {
  const {verdict} = place(
    ['run', 'git push', 'deny', 'run', 'npm publish', 'ask']
      .join('|')
      .replaceAll(
        /(\w+)\|([^|]+)\|(\w+)\|?/g,
        '[[tools.approval.rules]]\ntool = "$1"\ncommand_prefix = "$2"\ndecision = "$3"\n',
      ),
  );
  expect(await verdict('Bash', {command: 'true && git push'})).toBe('deny');
  expect(await verdict('Bash', {command: 'npm publish'})).toBe('ask');
  expect(await verdict('WebFetch', {url: 'http://192.168.1.1/', prompt: 'p'})).toBe('deny');
  expect(await verdict('WebFetch', {url: 'file:///etc/passwd', prompt: 'p'})).toBe('deny');
  expect(await verdict('WebFetch', {url: 'https://example.com/', prompt: 'p'})).toBe('pass');
});

test('a tool that nobody knows is asked about, our own are left alone, and other events pass', async () => {
  const {hook, verdict, root} = place();
  for (const name of ['mcp__other__run', 'constructor', '__proto__', 'toString']) {
    expect(await verdict(name, {command: 'x'})).toBe('ask');
  }
  expect(await verdict('Foo', {}, '--unknown', 'pass')).toBe('pass');
  expect(await verdict('Foo', {}, '--unknown', 'deny')).toBe('deny');
  expect(await verdict('mcp__forge-tools__run', {command: 'curl 169.254.169.254'})).toBe('pass');
  expect(await verdict('Grep', {pattern: 'x'})).toBe('pass');
  const after = {hook_event_name: 'PostToolUse', cwd: root, tool_name: 'Bash', tool_input: {}};
  expect(await hook('claude-code', after)).toMatchObject({code: 0, json: {}});
});

test('a command goes into the sandbox where the host lets it', async () => {
  const {hook, call, root} = place();
  const {json, code} = await hook(
    'claude-code',
    call('Bash', {command: "echo 'a b'", timeout: 5}),
    '--commands',
    'sandbox',
  );
  expect(code).toBe(0);
  expect(json.hookSpecificOutput).toMatchObject({
    permissionDecision: 'allow',
    updatedInput: {
      command: `/usr/bin/node '/opt/forge tools/forge-tools.js' exec --workspace ${root} -- 'echo '\\''a b'\\'''`,
      timeout: 5,
    },
  });
  writeFileSync(join(root, 'c.toml'), '');
  const own = await hook(
    'claude-code',
    call('Bash', {command: 'ls'}),
    '--commands',
    'sandbox',
    '--config',
    'c.toml',
  );
  expect(own.json.hookSpecificOutput.updatedInput.command).toContain(
    ` --config ${join(root, 'c.toml')} -- ls`,
  );
  const denied = await hook(
    'claude-code',
    call('Bash', {command: 'curl 169.254.169.254'}),
    '--commands',
    'sandbox',
  );
  expect(denied).toMatchObject({code: 2});
  expect(denied.stdout).not.toContain('updatedInput');
  const gemini = {
    hook_event_name: 'BeforeTool',
    cwd: root,
    tool_name: 'run_shell_command',
    tool_input: {command: 'ls'},
  };
  expect((await hook('gemini-cli', gemini, '--commands', 'sandbox')).json).toEqual({
    hookSpecificOutput: {tool_input: {command: expect.stringContaining(' exec --workspace ')}},
  });
  expect(await hook('codex', call('Bash', {command: 'ls'}), '--commands', 'sandbox')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('codex does not let a hook change a command'),
  });
});

test('each host is answered in its own form, and one that cannot ask is refused', async () => {
  const {hook, call, root} = place();
  const codex = await hook(
    'codex',
    call('apply_patch', {command: '*** Begin Patch\n*** Update File: /etc/hosts\n@@\n'}),
  );
  expect(codex).toMatchObject({code: 2, stderr: expect.stringContaining('cannot ask')});
  expect(codex.json.hookSpecificOutput).toMatchObject({
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
  });
  const gemini = {
    hook_event_name: 'BeforeTool',
    cwd: root,
    tool_name: 'web_fetch',
    tool_input: {prompt: 'Read http://10.0.0.1/x, then stop.'},
  };
  expect(await hook('gemini-cli', gemini)).toMatchObject({
    code: 2,
    json: {decision: 'deny', reason: expect.any(String)},
  });
  const cursor = (name: string, more: object) =>
    hook('cursor', {hook_event_name: name, conversation_id: 'c', workspace_roots: [root], ...more});
  expect((await cursor('beforeShellExecution', {command: 'ls', cwd: root})).json).toEqual({
    permission: 'allow',
  });
  expect(await cursor('beforeShellExecution', {command: 'curl http://10.0.0.1', cwd: root})).toMatchObject({
    code: 2,
    json: {permission: 'deny', user_message: expect.any(String), agent_message: expect.any(String)},
  });
  expect((await cursor('beforeReadFile', {file_path: join(root, 'src/a.ts'), content: 'a'})).json).toEqual({
    permission: 'allow',
  });
  expect(
    (await cursor('beforeMCPExecution', {tool_name: 'read_file', tool_input: '{}', command: 'npx other'}))
      .json,
  ).toMatchObject({permission: 'ask'});
  const ours = {tool_name: 'run', tool_input: '{}', command: 'npx -y forge-tools mcp'};
  expect((await cursor('beforeMCPExecution', ours)).json).toEqual({permission: 'allow'});
});

test('what cannot be read is refused, with a sentence of what to do', async () => {
  const {hook, call} = place();
  const wrong = [
    '',
    'nonsense',
    '[]',
    '{}',
    JSON.stringify(call('Bash', {})),
    JSON.stringify(call('Write', {file_path: 7})),
  ];
  for (const event of wrong) {
    expect(await hook('claude-code', event)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^forge-tools hook: .* The call is refused\.\n$/s),
    });
  }
  expect(await hook('claude-code', call('Bash', {command: 'x'.repeat(10_000_000)}))).toMatchObject({
    code: expect.any(Number),
  });
  const broken = place('tools = 7\n');
  expect(await broken.hook('claude-code', broken.call('Bash', {command: 'ls'}))).toMatchObject({
    code: 2,
    stdout: '',
  });
  expect((await hook('vim', '{}')).code).toBe(2);
});
