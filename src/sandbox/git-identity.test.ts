import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {gitIdentity, gitSystemConfig, gitVariables} from './git-identity.ts';

function place(files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'forge-identity-'));
  onTestFinished(() => rmSync(root, {recursive: true, force: true}));
  for (const directory of ['home/.config/git', 'work/.git'])
    mkdirSync(join(root, directory), {recursive: true});
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  return {root, workspace: join(root, 'work'), env: {HOME: join(root, 'home')}};
}

function author(files: Readonly<Record<string, string>>, more: Readonly<Record<string, string>> = {}) {
  const {workspace, env} = place(files);
  const {GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email} = gitIdentity(workspace, {...env, ...more});
  return {name, email};
}

describe('who commits in a sandbox', () => {
  test('policy: the user, the repository before the user, the environment before both', () => {
    const user = {'home/.gitconfig': '[user]\n\tname = Ada L\n\temail = ada@example.org\n'};
    expect(author(user)).toEqual({name: 'Ada L', email: 'ada@example.org'});
    const here = {...user, 'work/.git/config': '[core]\nname = x\n[user] email = work@example.org ; here\n'};
    expect(author(here)).toEqual({name: 'Ada L', email: 'work@example.org'});
    expect(author(here, {GIT_AUTHOR_NAME: 'Env'})).toEqual({name: 'Env', email: 'work@example.org'});
    expect(author({'home/.config/git/config': '[USER]\nName="A # B"\n'}).name).toBe('A # B');
  });

  test('policy: a neutral name where none is set, or the one that is set cannot be used', () => {
    const neutral = {name: 'forge-tools', email: 'forge-tools@localhost'};
    expect(author({})).toEqual(neutral);
    expect(author({'home/.gitconfig': `[user]\nname = ${'x'.repeat(300)}\nemail = a\u202eb\n`})).toEqual(
      neutral,
    );
    const {workspace, root} = place({});
    execFileSync('mkfifo', [join(root, 'home/.gitconfig')]);
    expect(gitIdentity(workspace, {HOME: join(root, 'home')})['GIT_COMMITTER_NAME']).toBe('forge-tools');
  });

  test.each([
    'name = A B',
    'name = "A B"',
    'name = A "B C" D # comment',
    'name = A \\"B\\" ; comment',
    'name = "A;B"',
    'name =   A  ',
    'NAME=A#b',
    'name = A\nnickname = B',
    '[user]name = A',
    '[user]   name = A',
    '[other]\nname = B\n[user]\nname = A',
  ])('policy: %j is read as git reads it', line => {
    const {root, workspace, env} = place({'home/.gitconfig': `[user]\n${line}\n`});
    const git = execFileSync('git', ['config', '-f', join(root, 'home/.gitconfig'), 'user.name'], {
      encoding: 'utf8',
    });
    expect(gitIdentity(workspace, env)['GIT_AUTHOR_NAME']).toBe(git.trim());
  });

  test('policy: as the configuration of the system it is the user, as git reads it', () => {
    const {root, env} = place({'home/.gitconfig': '[user]\nname = "A \\"B\\" \\\\ # C"\nemail = a@b\n'});
    writeFileSync(join(root, 'system'), gitSystemConfig(env));
    const git = (key: string): string =>
      execFileSync('git', ['config', '-f', join(root, 'system'), key], {encoding: 'utf8'});
    expect([git('user.name'), git('user.email')]).toEqual(['A "B" \\ # C\n', 'a@b\n']);
    expect(gitSystemConfig({})).toContain('name = "forge-tools"');
    expect(gitVariables({...env, GIT_AUTHOR_NAME: 'Env', GIT_AUTHOR_EMAIL: ' '})).toEqual({
      GIT_AUTHOR_NAME: 'Env',
    });
  });
});
