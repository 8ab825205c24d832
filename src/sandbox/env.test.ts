import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {runOptions, SESSIONS} from '../../test/support/open-sandbox.ts';
import {needs} from '../../test/support/parts.ts';
import {systemClock} from '../core/clock.ts';
import type {EgressGate} from '../core/egress-gate.ts';
import {silentLog} from '../core/log.ts';
import {
  egressEnv,
  gitIdentity,
  gitSystemConfig,
  gitVariables,
  inheritedEnv,
  isHarmlessVariable,
  programPlaces,
  sandboxEnv,
} from './env.ts';

const gate: EgressGate = {
  open: () => Promise.reject(new Error('Expected nothing to be opened.')),
  close: () => Promise.resolve(),
  endsTls: false,
};
const options = runOptions({inherit_env: ['LANG', 'GIT_AUTHOR_NAME']});

function envOf(egress: EgressGate | undefined, env: Record<string, string> = {}) {
  const host = {
    workspace: '/w',
    protectedPaths: [],
    sessions: SESSIONS,
    env,
    egress,
    clock: systemClock,
    log: silentLog,
  };
  return sandboxEnv(options, host, {GIT_AUTHOR_NAME: 'Ada'});
}

test('policy: npm gives up at once where there is no way out, and has a proxy where there is one', () => {
  expect(envOf(undefined)).toEqual({
    ...{HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb'},
    ...{npm_config_fetch_retries: '0', GIT_AUTHOR_NAME: 'Ada'},
  });
  const {npm_config_fetch_retries: retries, HTTPS_PROXY: proxy} = envOf(gate);
  expect({retries, proxy}).toEqual({retries: undefined, proxy: expect.stringMatching(/^http:/)});
});

test('policy: what the configuration lists is stronger than who commits', () => {
  expect(envOf(undefined, {LANG: 'C', GIT_AUTHOR_NAME: 'Env', SECRET: 'x'})).toEqual({
    ...{HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb'},
    ...{npm_config_fetch_retries: '0', LANG: 'C', GIT_AUTHOR_NAME: 'Env'},
  });
});

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

  test('policy: author and committer are the same person, each stronger by its own variable', () => {
    const {workspace, env} = place({'work/.git/config': '[user]\nname = Ada\nemail = ada@example.org\n'});
    expect(gitIdentity(workspace, env)).toEqual({
      ...{GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org'},
      ...{GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.org'},
    });
    const named = {
      ...{GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: ' a@b '},
      ...{GIT_COMMITTER_NAME: 'C', GIT_COMMITTER_EMAIL: 'c@d'},
    };
    const trimmed = {...named, GIT_AUTHOR_EMAIL: 'a@b'};
    expect(gitIdentity(workspace, {...env, ...named})).toEqual(trimmed);
    expect(gitVariables({...env, ...named})).toStrictEqual(trimmed);
    expect(gitVariables(env)).toStrictEqual({});
  });

  test('policy: the configuration of a user lies in the home, and else where XDG has it', () => {
    const {root, workspace, env} = place({
      'home/.gitconfig': '[user]\nname = Home\n',
      'home/.config/git/config': '[user]\nname = Config\nemail = config@example.org\n',
    });
    mkdirSync(join(root, 'xdg/git'), {recursive: true});
    writeFileSync(join(root, 'xdg/git/config'), '[user]\nname = Xdg\nemail = xdg@example.org\n');
    const {name, email} = {name: 'GIT_AUTHOR_NAME', email: 'GIT_AUTHOR_EMAIL'};
    const of = (host: Readonly<Record<string, string>>) => {
      const found = gitIdentity(workspace, host);
      return [found[name], found[email]];
    };
    expect(of(env)).toEqual(['Home', 'config@example.org']);
    expect(of({...env, XDG_CONFIG_HOME: join(root, 'xdg')})).toEqual(['Home', 'xdg@example.org']);
    expect(of({XDG_CONFIG_HOME: join(root, 'xdg')})).toEqual(['Xdg', 'xdg@example.org']);
    expect(of({...env, XDG_CONFIG_HOME: ''})).toEqual(['Home', 'config@example.org']);
    // Not what lies in the directory of this process.
    const here = process.cwd();
    process.chdir(join(root, 'home'));
    onTestFinished(() => process.chdir(here));
    expect(of({HOME: '', XDG_CONFIG_HOME: ''})).toEqual(['forge-tools', 'forge-tools@localhost']);
    expect(of({})).toEqual(['forge-tools', 'forge-tools@localhost']);
  });

  test('policy: what stands before any section is of nobody', () => {
    expect(author({'home/.gitconfig': 'name = A\nemail = a@b\n'}).name).toBe('forge-tools');
  });

  test('policy: a name may have 200 characters, and its file 256 KiB', () => {
    const named = (name: string) => ({'home/.gitconfig': `[user]\nname = ${name}\n`});
    expect(author(named('x'.repeat(200))).name).toBe('x'.repeat(200));
    expect(author(named('x'.repeat(201))).name).toBe('forge-tools');
    expect(author(named('a\tb')).name).toBe('forge-tools');
    const filled = (bytes: number) => {
      const start = '[user]\nname = Ada\n#';
      return {'home/.gitconfig': start + ' '.repeat(bytes - start.length)};
    };
    expect(author(filled(262_144)).name).toBe('Ada');
    expect(author(filled(262_145)).name).toBe('forge-tools');
  });

  test('policy: a file that was read is closed, and a directory in its place is none', () => {
    const {workspace, root} = place({'work/.git/config': '[user]\nname = Ada\n'});
    mkdirSync(join(root, 'home/.gitconfig'));
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    const found = gitIdentity(workspace, {HOME: join(root, 'home')});
    expect(found['GIT_AUTHOR_NAME']).toBe('Ada');
    expect(open()).toBe(before);
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
    'name = A\n[other]\nname = B',
    '[other]\nname = B\n  [user]\nname = A',
    'name = A\nname = B',
    '  name=A',
    'name = A\r',
    'name = "A\\"B"',
    'name = "A\\\\B"',
    'name = A # "B"',
    'email = a\nname = A',
    'xname = B\nname = A',
    '[user "x"]\nname = B\n[user]\nname = A',
  ])('policy: %j is read as git reads it', needs('git', 'git'), line => {
    const {root, workspace, env} = place({'home/.gitconfig': `[user]\n${line}\n`});
    const git = execFileSync('git', ['config', '-f', join(root, 'home/.gitconfig'), 'user.name'], {
      encoding: 'utf8',
    });
    expect(gitIdentity(workspace, env)['GIT_AUTHOR_NAME']).toBe(git.trim());
  });

  test(
    'policy: as the configuration of the system it is the user, as git reads it',
    needs('git', 'git'),
    () => {
      const {root, env} = place({'home/.gitconfig': '[user]\nname = "A \\"B\\" \\\\ # C"\nemail = a@b\n'});
      writeFileSync(join(root, 'system'), gitSystemConfig(env));
      const git = (key: string): string =>
        execFileSync('git', ['config', '-f', join(root, 'system'), key], {encoding: 'utf8'});
      expect([git('user.name'), git('user.email')]).toEqual(['A "B" \\ # C\n', 'a@b\n']);
      expect(gitSystemConfig({})).toContain('name = "forge-tools"');
      expect(gitVariables({...env, GIT_AUTHOR_NAME: 'Env', GIT_AUTHOR_EMAIL: ' '})).toEqual({
        GIT_AUTHOR_NAME: 'Env',
      });
    },
  );
});

const PROXY = 'http://127.0.0.1:3128';
const LOCAL = 'localhost,127.0.0.1,::1';
const BUNDLE = '/run/forge-egress/ca.pem';
const WAY_OUT = {
  ...{http_proxy: PROXY, https_proxy: PROXY, HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY},
  ...{no_proxy: LOCAL, NO_PROXY: LOCAL, NODE_USE_ENV_PROXY: '1'},
};

test('X1: a command finds its proxy by each name that programs know, but for servers of its own', () => {
  expect(egressEnv({endsTls: false})).toEqual(WAY_OUT);
});

test('X1: where the gate ends TLS, each program trusts its authority', () => {
  expect(egressEnv({endsTls: true})).toEqual({
    ...WAY_OUT,
    ...{SSL_CERT_FILE: BUNDLE, NODE_EXTRA_CA_CERTS: BUNDLE, npm_config_cafile: BUNDLE, PIP_CERT: BUNDLE},
    ...{REQUESTS_CA_BUNDLE: BUNDLE, CURL_CA_BUNDLE: BUNDLE, GIT_SSL_CAINFO: BUNDLE},
    CARGO_HTTP_CAINFO: BUNDLE,
  });
});

test.each(['LANG', 'LC_ALL', 'LC_TIME', 'TZ', 'TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'CI'])(
  'review R10: %s is for printing',
  name => {
    expect(isHarmlessVariable(name, 'x')).toBe(true);
  },
);

test.each([
  'PATH',
  'HOME',
  'LD_PRELOAD',
  'XLANG',
  'LANGUAGES',
  'LC_',
  'LC_a',
  'TZDIR',
  'TERMINFO',
  'CIX',
  '',
])('review R10: %s is not given to a process of the host', name => {
  expect(isHarmlessVariable(name, 'x')).toBe(false);
});

test.each(['/etc/passwd', ':/etc/localtime', '../x', 'a/../b'])('review R10: nor is the value %s', value => {
  expect(isHarmlessVariable('TZ', value)).toBe(false);
  expect(isHarmlessVariable('TZ', 'Europe/Berlin')).toBe(true);
});

const HOST = {LANG: 'de_DE.UTF-8', LC_ALL: '', HOME: '/root', SECRET: 'x'};

test('ruling W8 a command gets a home of its own, and of the host what is listed and set', () => {
  expect(inheritedEnv(runOptions(), HOST)).toStrictEqual({
    ...{HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb', LANG: 'de_DE.UTF-8'},
  });
});

test('policy: what the configuration lists is stronger than what every command finds', () => {
  const host = {
    ...{
      workspace: '/w',
      protectedPaths: [],
      sessions: SESSIONS,
      env: {...HOST, npm_config_fetch_retries: '3', GIT_AUTHOR_NAME: 'B'},
    },
    ...{clock: {} as never, log: () => {}},
  };
  const options = runOptions({inherit_env: ['npm_config_fetch_retries', 'GIT_AUTHOR_NAME']});
  const identity = {GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@b'};
  expect(sandboxEnv(runOptions({inherit_env: []}), host, identity)).toEqual({
    ...{npm_config_fetch_retries: '0', ...identity, HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb'},
  });
  expect(sandboxEnv(options, host, identity)).toMatchObject({
    npm_config_fetch_retries: '3',
    GIT_AUTHOR_NAME: 'B',
  });
});

test('review R3: helpers are looked for in what is named and the path of the host, and never where commands write', () => {
  const host = {
    workspace: '/w',
    protectedPaths: [],
    sessions: SESSIONS,
    env: {PATH: '/a:/b'},
    clock: systemClock,
    log: silentLog,
  };
  expect(programPlaces({...host, programDirectories: ['/p']})).toEqual({
    ...{path: '/a:/b', untrustedTrees: ['/w'], standard: ['/p']},
  });
});
