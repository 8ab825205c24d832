// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a client replaces such a name
import {expect, test} from 'vitest';
import {shellWords, windowsShellWords} from './shell-words.ts';

const ADD = ['claude', 'mcp', 'add', 'forge-tools', '--', 'cmd', '/c', 'npx', '-y', 'forge-tools@1.2.3'];

test('policy: a command for a POSIX shell quotes what the shell would read', () => {
  expect(shellWords(['a', "it's", '{"b": 1}', '${workspaceFolder}'])).toBe(
    `a 'it'\\''s' '{"b": 1}' '\${workspaceFolder}'`,
  );
});

test('policy: a command for Windows has words that cmd.exe and PowerShell read alike', () => {
  expect(windowsShellWords(ADD)).toBe('claude mcp add forge-tools "--" cmd /c npx -y forge-tools@1.2.3');
  expect(windowsShellWords(['a', 'C:\\Users\\A B\\project', 'R&D'])).toBe(
    'a "C:\\Users\\A B\\project" "R&D"',
  );
});

test.each(['{"name": 1}', '%APPDATA%', '${workspaceFolder}', '`'])(
  'policy: for %j, which they read in two ways, there is no command for Windows',
  word => {
    expect(windowsShellWords(['code', word])).toBeUndefined();
  },
);
