import {expect, test} from 'vitest';
import {describeOverlay} from '../../../test/support/describe-overlay.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {stateOf} from '../../../test/support/state-of.ts';
import {fail, ok} from '../../core/result.ts';
import type {FileState} from '../change/file-change.ts';
import {LINES_A_TURN} from '../open-file.ts';
import type {WritablePath} from '../workspace-path.ts';
import {overlayPatch, type PatchTree} from './overlay.ts';
import {parsePatch} from './parse-patch.ts';
import type {PatchSection} from './patch.ts';

function treeOf(files: Readonly<Record<string, string>>): PatchTree {
  const states = new Map(
    Object.entries(files).map(([path, content]): [string, FileState] => [path, stateOf(content, 0o644)]),
  );
  return {
    resolve: path => ok(path as WritablePath),
    read: async path => ok(states.get(path)),
    blockingFile: () => undefined,
  };
}

function sectionsOf(patch: string): readonly PatchSection[] {
  const parsed = parsePatch(patch);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value.sections;
}

async function historiesOf(files: Readonly<Record<string, string>>, patch: string) {
  const overlaid = await overlayPatch(treeOf(files), sectionsOf(patch));
  if (!overlaid.ok) throw new Error(overlaid.error.message);
  return overlaid.value.histories.map(({initial, final, versions}) => ({
    initial,
    final,
    versions: versions.map(({kind, order, hunks}) =>
      [
        kind,
        order,
        ...hunks.map(({at, lines}) => `${at}:${lines.map(one => one.kind + one.text).join('')}`),
      ].join(' '),
    ),
  }));
}

const CREATION = 'diff --git a/n b/n\nnew file mode 100644\n';
const DELETION = (path: string) => `diff --git a/${path} b/${path}\ndeleted file mode 100644\n`;
const change = (path: string, from: string, to: string) =>
  `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;

test.each<readonly [string, Readonly<Record<string, string>>, string, readonly object[]]>(
  // biome-ignore format: a case is a line
  [
    ['a creation', {}, '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n', [{initial: undefined, final: 'x\n', versions: ['create 0 0:+x\n']}]],
    ['an empty creation', {}, CREATION, [{initial: '', final: '', versions: []}]],
    ['two sections for one file', {x: 'a\n'}, change('x', 'a', 'b') + change('x', 'b', 'c'), [{initial: 'a\n', final: 'c\n', versions: ['modify 0 0:-a\n+b\n', 'modify 1 0:-b\n+c\n']}]],
    ['a deletion', {x: 'a\n'}, '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n', [{initial: 'a\n', final: undefined, versions: ['delete 0 0:-a\n']}]],
    ['a deletion of an empty file', {x: ''}, DELETION('x'), []],
    ['a deletion of what an earlier section emptied', {x: 'a\n'}, `--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n${DELETION('x')}`, [{initial: 'a\n', final: '', versions: ['modify 0 0:-a\n']}]],
    [
    'a change under a new name, and a new file under the old one',
    {x: 'a\n'},
    `diff --git a/x b/y\nrename from x\nrename to y\n${change('x', 'a', 'b').replace('+++ b/x', '+++ b/y')}--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+n\n`,
    [
      {initial: 'a\n', final: 'b\n', versions: ['modify 0 0:-a\n+b\n']},
      {initial: undefined, final: 'n\n', versions: ['create 1 0:+n\n']},
    ],
  ],
    ['a rename alone', {x: 'a\n'}, 'diff --git a/x b/y\nrename from x\nrename to y\n', []],
  ],
)('W7: what GNU patch is asked about: %s', async (_, files, patch, histories) => {
  expect(await historiesOf(files, patch)).toEqual(histories);
});

test('policy: a path cannot be a file and a directory, however far below', async () => {
  const addition = (path: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
  const messageOf = async (...paths: readonly string[]) => {
    const overlaid = await overlayPatch(treeOf({}), sectionsOf(paths.map(addition).join('')));
    return overlaid.ok ? 'ok' : overlaid.error.message;
  };
  expect(await messageOf('a', 'a/b/c/d')).toBe(
    '"a/b/c/d" cannot be created: "a" is a file. Nothing was written.',
  );
  expect(await messageOf('a/b', 'a/b/c/d')).toBe(
    '"a/b/c/d" cannot be created: "a/b" is a file. Nothing was written.',
  );
  for (const path of ['a', 'a/b', 'a/b/c']) {
    expect(await messageOf('a/b/c/d', path)).toBe(
      `"${path}" cannot be created: the patch has files below it. Nothing was written.`,
    );
  }
  expect(await messageOf('a/b/c/d', 'a/b/d', 'ab')).toBe('ok');
});

test('policy: the files of a patch have at most 256 MiB together', async () => {
  const renames = (count: number) =>
    Array.from(
      {length: count},
      (_, at) => `diff --git a/${at} b/n${at}\nrename from ${at}\nrename to n${at}\n`,
    );
  const outcome = async (...sizes: readonly number[]) => {
    const files = sizes.map((size, at) => [String(at), 'x'.repeat(size)] as const);
    const overlaid = await overlayPatch(
      treeOf(Object.fromEntries(files)),
      sectionsOf(renames(sizes.length).join('')),
    );
    return overlaid.ok ? 'ok' : overlaid.error;
  };
  const half = 128 * 1024 * 1024;
  expect(await outcome(half, half)).toBe('ok');
  expect(await outcome(half, half, 1)).toMatchObject({
    code: 'file_too_large',
    message:
      'The files that the patch changes have more than 268435456 bytes together. Split the patch. Nothing was written.',
    details: {path: '2', size: 268_435_457, max_bytes: 268_435_456},
  });
});

test.each<readonly [string, string, string, readonly unknown[]]>([
  [
    'a second hunk whose lines are there twice is where it says',
    'a\nb\nc\nb\n',
    '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n@@ -4 +4 @@\n-b\n+B\n',
    ['modify x 644 A\nb\nc\nB\n'],
  ],
  [
    'a hunk without numbers takes nothing from those of the next one',
    'b\na\nc\nb\n',
    '--- a/x\n+++ b/x\n@@\n-a\n+A\n@@ -4 +4 @@\n-b\n+B\n',
    ['modify x 644 b\nA\nc\nB\n'],
  ],
  [
    'a last line without newline that goes behind what comes',
    'one\ntwo',
    '*** Begin Patch\n*** Update File: x\n+2\n-two\n*** End Patch\n',
    ['modify x 644 one\n2\n'],
  ],
])('W7: %s', async (_, content, patch, outcome) => {
  expect(await describeOverlay(patch, {files: {x: content}})).toEqual(outcome);
});

test('W7: of two places as near, the first one is compared', async () => {
  const patch = '--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@\n a\n-X\n+Y\n';
  const [message] = await describeOverlay(patch, {files: {x: 'a\np\nq\nr\na\ns\n'}});
  expect(message).toBe(
    'patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in the text. Line 2 is "p" in the file, "X" in the hunk. Nothing was written.',
  );
});

test('review R12: a section that is late fails the patch', async () => {
  const late = fail('timeout', 'Late.');
  const outcome = (lines: number) => {
    let left = 1;
    const deadline = pretendDeadline({
      get spent() {
        left -= 1;
        return left < 0;
      },
      failure: () => late,
    });
    const hunk = {
      line: 3,
      oldStart: 0,
      lines: Array.from({length: lines}, () => ({kind: '+' as const, text: 'x\n'})),
    };
    const section: PatchSection = {kind: 'create', line: 1, path: 'n', hunks: [hunk], executable: false};
    return overlayPatch(treeOf({}), [section], deadline);
  };
  expect(await outcome(LINES_A_TURN)).toEqual(late);
  expect(await outcome(LINES_A_TURN - 1)).toMatchObject({ok: true});
});
