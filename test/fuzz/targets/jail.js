import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, posix} from 'node:path';
import {openWorkspace} from '../../../dist/workspace/jail/jail.js';
import {readWhole} from '../../../dist/workspace/open-file.js';
import {compileGlob} from '../../../dist/workspace/walk/glob.js';
import {expectThat} from '../expect-that.js';

const base = mkdtempSync(join(tmpdir(), 'forge-fuzz-'));
process.on('exit', () => rmSync(base, {recursive: true, force: true}));
const root = join(base, 'work');
mkdirSync(join(root, 'a/b'), {recursive: true});
mkdirSync(join(root, '.git'));
mkdirSync(join(base, 'work2'));
for (const [path, text] of Object.entries({
  'work/a/f': 'inside',
  'work/a/b/g': 'inside',
  'work/.git/config': 'inside',
  'work2/secret': 'secret',
  secret: 'secret',
})) {
  writeFileSync(join(base, path), text);
}
symlinkSync('../..', join(root, 'a/up'));
symlinkSync('../secret', join(root, 'link'));
symlinkSync(base, join(root, 'away'));
const workspace = openWorkspace(root).value;

/** Rulings W1, W2 and W11: no spelling of a path leads out or writes below .git; any text is a pattern or refused. */
async function check(bytes) {
  const text = Buffer.from(bytes).toString('utf8').replaceAll('{ROOT}', root);
  const resolved = workspace.resolve(text);
  if (resolved.ok) {
    const path = resolved.value;
    const expected = posix.relative(root, posix.resolve(root, text)) || '.';
    expectThat(path === expected, 'another path than the platform', path, expected);
    expectThat(!path.split('/').includes('..') && !posix.isAbsolute(path), 'the path leads out', path);
    const file = await workspace.openFile(path);
    if (file.ok) {
      const content = await readWhole(file.value);
      expectThat(content.ok && Buffer.from(content.value).toString() === 'inside', 'a secret was read', path);
    }
    const directory = workspace.openDirectory(path);
    if (directory.ok) directory.value.close();
  }
  const writable = workspace.resolveForWrite(text);
  if (writable.ok) {
    const names = writable.value.split('/').map(name => name.toLowerCase());
    expectThat(!names.includes('.git'), 'a path below .git may be written', writable.value);
    expectThat(resolved.ok && resolved.value === writable.value, 'two readings', writable.value);
  }
  const glob = compileGlob(text, 'glob');
  if (!glob.ok) return;
  for (const path of [
    'a',
    'a/b/c.ts',
    '.git/config',
    'x'.repeat(60),
    text.slice(0, 40).replaceAll('\0', '') || 'a',
  ]) {
    glob.value.matchesPath(path);
    glob.value.matchesDirectory(path.split('/'));
  }
}

export const target = {
  check,
  modules: ['/dist/workspace/'],
  maxLength: 256,
  // biome-ignore format: a list
  seeds: [
    'a/f', '../work2/secret', '{ROOT}/a/b/g', 'a/up/secret', 'away/secret', '.git/config',
    'src/**/*.{ts,[!a-z]}', '/',
  ],
  // biome-ignore format: a list
  tokens: [
    '../', './', '/', '//', '..', '.', '{ROOT}', '{ROOT}2', '.git', '.GIT', '.g\u200cit', '.git.', '~',
    'git~1', 'a', 'up', 'link', 'away', 'secret', 'b', 'g', '\0', '\\', '%2e', 'é', 'e\u0301', '\u202e', ' ',
    '\n', '*', '**', '**/', '?', '[', ']', '[!', '[a-z]', '[[:alpha:]]', '{', '}', ',', '{a,b}', '!', '\\*',
    '...', '＼', '／',
  ],
};
