import {execFile} from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {promisify} from 'node:util';
import {expect, test} from 'vitest';
import {compileSources} from '../../test/support/compile-sources.ts';
import {codeOf, unwrap} from '../../test/support/outcome.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import type {ApprovalRule} from '../core/tool-host.ts';
import {takeFileLock} from '../system/file-lock.ts';
import {keepRule} from './edit-config.ts';
import {loadConfig} from './load-config.ts';

const RULE = {
  tool: 'run',
  decision: 'allow' as const,
  command_prefix: 'npm run "test"',
  match: ['npm run "test" -- a'],
} satisfies ApprovalRule;

/** What is left out is read as empty. */
const READ = {...RULE, host: '', path: '', not_match: [], reason: '', tainted: false};

const ENVIRONMENT = {env: {}, cwd: '/', tempDir: '/tmp', homeDir: '/nonexistent'};

async function rulesOf(file: string): Promise<readonly unknown[]> {
  const loaded = await loadConfig({path: file, ...ENVIRONMENT});
  return loaded.ok ? loaded.value.config.tools.approval.rules : loaded.error;
}

test('ruling H3 a kept rule is read back as it was, behind what was there', async () => {
  const file = join(temporaryDirectory(), 'config.toml');
  writeFileSync(file, '# mine\n[tools]\nmode = "enabled" # on', {mode: 0o640});
  chmodSync(file, 0o640);
  unwrap(await keepRule(file, RULE, ENVIRONMENT));
  unwrap(await keepRule(file, {...RULE, command_prefix: 'npm ci', match: []}, ENVIRONMENT));
  expect(
    readFileSync(file, 'utf8').startsWith(
      '# mine\n[tools]\nmode = "enabled" # on\n\n[[tools.approval.rules]]',
    ),
  ).toBe(true);
  expect(await rulesOf(file)).toEqual([READ, {...READ, command_prefix: 'npm ci', match: []}]);
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

test('policy: a first file is private, and a linked one stays linked', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'forge-tools/config.toml');
  unwrap(await keepRule(file, RULE, ENVIRONMENT));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // Ruling H7: or the next start would offer nothing.
  expect(await loadConfig({path: file, ...ENVIRONMENT})).toMatchObject({
    value: {config: {profile: 'guarded', tools: {mode: 'enabled'}}},
  });
  symlinkSync(file, join(directory, 'link'));
  unwrap(await keepRule(join(directory, 'link'), RULE, ENVIRONMENT));
  expect(await rulesOf(file)).toHaveLength(2);
  expect(readdirSync(join(directory, 'forge-tools'))).toEqual(['config.toml']);
});

test('policy: a file that takes no further table is left as it is, and the message has the lines', async () => {
  const file = join(temporaryDirectory(), 'config.toml');
  const before = '[tools.approval]\nrules = [{tool = "run", decision = "ask", command_prefix = "rm"}]\n';
  writeFileSync(file, before);
  const kept = await keepRule(file, RULE, ENVIRONMENT);
  expect(codeOf(kept)).toBe('io_error');
  expect(!kept.ok && kept.error.message).toContain('command_prefix = ');
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('policy: where the file cannot be written, the message has the lines', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'config.toml'));
  const kept = await keepRule(join(directory, 'config.toml'), RULE, ENVIRONMENT);
  expect(codeOf(kept)).toBe('io_error');
  expect(!kept.ok && kept.error.message).toContain('[[tools.approval.rules]]');
  expect(existsSync(join(directory, 'config.toml'))).toBe(true);
});

test('policy: a rule that the next start would refuse is not written', async () => {
  const file = join(temporaryDirectory(), 'config.toml');
  const kept = await keepRule(file, {...RULE, command_prefix: 'a\u0007'}, ENVIRONMENT);
  expect(!kept.ok && kept.error.message).toContain('control characters');
  expect(existsSync(file)).toBe(false);
});

test('review R4: no rule is lost where two processes and two calls of each keep rules at once', {
  tags: 'stress',
}, async () => {
  const built = compileSources('src/config/edit-config.ts');
  const file = join(temporaryDirectory(), 'config.toml');
  const each = 10;
  const script = `
    const {keepRule} = await import(${JSON.stringify(pathToFileURL(join(built, 'src/config/edit-config.js')).href)});
    const keep = async lane => {
      for (let at = 0; at < ${each}; at += 1) {
        const command_prefix = [process.argv[1], lane, at].join('-');
        const kept = await keepRule(${JSON.stringify(file)}, {...${JSON.stringify({...RULE, match: []})}, command_prefix}, ${JSON.stringify(ENVIRONMENT)});
        if (!kept.ok) throw new Error(kept.error.message);
      }
    };
    await Promise.all(['a', 'b'].map(keep));`;
  const keeper = (name: string) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script, name]);
  await Promise.all([keeper('one'), keeper('two')]);
  const rules = (await rulesOf(file)) as readonly ApprovalRule[];
  expect(new Set(rules.map(rule => rule.command_prefix)).size).toBe(4 * each);
});

test('policy: where another process holds the file, the message has the lines', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'config.toml');
  const lock = await takeFileLock(`${file}.lock`, {clock: systemClock});
  if (lock.state !== 'held') throw new Error('Expected the lock to be free.');
  const kept = await keepRule(file, RULE, ENVIRONMENT, 0);
  lock.release();
  expect(codeOf(kept)).toBe('io_error');
  expect(!kept.ok && kept.error.message).toContain('[[tools.approval.rules]]');
  expect(existsSync(file)).toBe(false);
});

const LINES = `[[tools.approval.rules]]
tool = "run"
decision = "allow"
command_prefix = "npm run \\"test\\""
match = [ "npm run \\"test\\" -- a" ]`;

test.each([
  ['nothing', undefined, ''],
  ['an empty file', '', ''],
  ['a line', 'profile = "guarded"\n', 'profile = "guarded"\n\n'],
  ['a line without an end', 'profile = "guarded"', 'profile = "guarded"\n\n'],
])(
  'ruling H3 behind %s a kept rule is a paragraph of its own, of what it says alone',
  async (_, before, kept) => {
    const file = join(temporaryDirectory(), 'config.toml');
    if (before !== undefined) writeFileSync(file, before);
    unwrap(await keepRule(file, RULE, ENVIRONMENT));
    expect(readFileSync(file, 'utf8')).toBe(`${kept}${LINES}\n`);
  },
);

test('policy: why a rule was not kept is said, with the lines to add by hand', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'config.toml');
  const messageOf = async (before: string): Promise<string> => {
    writeFileSync(file, before);
    const kept = await keepRule(file, RULE, ENVIRONMENT);
    expect(readFileSync(file, 'utf8')).toBe(before);
    return kept.ok ? '' : kept.error.message;
  };
  expect(await messageOf('mode = = 1\n')).toBe(
    `The rule cannot be added to ${file}: the file would no longer be TOML. Add it by hand:\n${LINES}`,
  );
  expect(await messageOf('[tools]\nmode = "none"\n[tools.run]\nsandbox = 2\n')).toMatch(
    /added to \S+: Expected tools\.mode to be .*, got the string "none"\. Expected tools\.run\.sandbox to be .*, got the integer 2\. Add it by hand:\n\[\[/,
  );
  const kept = await keepRule(directory, RULE, ENVIRONMENT);
  expect(kept).toMatchObject({
    error: {
      message: `${directory} cannot be written (EISDIR). Add the rule there by hand:\n${LINES}`,
      details: {error: 'EISDIR'},
    },
  });
});
