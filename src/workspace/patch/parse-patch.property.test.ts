import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {stateOf} from '../../../test/support/state-of.ts';
import type {Result} from '../../core/result.ts';
import type {FileChange} from '../change/file-change.ts';
import {atOnce} from '../open-file.ts';
import {parseWritablePath} from '../workspace-path.ts';
import {type OverlayResult, overlayPatch, type PatchTree} from './overlay.ts';
import {parsePatch} from './parse-patch.ts';
import {bytesOf} from './patch.ts';
import {renderUndo} from './unified.ts';

const FILES = new Map([
  ['a', 'one\ntwo\nthree\nfour\n'],
  ['dir/b', 'x\r\ny'],
]);

const line = fc.constantFrom(
  ...[
    '--- a/a\n',
    '+++ b/a\n',
    '--- a/dir/b\n',
    '+++ b/dir/b\n',
    '--- /dev/null\n',
    '+++ /dev/null\n',
    '+++ b/n\n',
  ],
  ...[
    '@@ -1,2 +1,2 @@\n',
    '@@ -1 +1 @@\n',
    '@@ -0,0 +1 @@\n',
    '@@ -2,3 +2,2 @@\n',
    '@@ -9999999999999999 +1 @@\n',
  ],
  ...[
    ' one\n',
    '-two\n',
    '+2\n',
    ' three\n',
    '-x\r\n',
    '+X\r\n',
    ' y\n',
    '+new\n',
    '\\ No newline at end of file\n',
  ],
  ...[
    'diff --git a/a b/c\n',
    'rename from a\n',
    'rename to c\n',
    'new file mode 100755\n',
    'old mode 100644\n',
  ],
  ...[
    'new mode 100755\n',
    'new file mode 120000\n',
    '```\n',
    '\n',
    '-',
    '+',
    ' ',
    '\0',
    '+++ b/../x\n',
    '+++ b/.git/x\n',
  ],
);
const patch = fc.oneof(
  {weight: 3, arbitrary: fc.array(line, {maxLength: 16})},
  {
    weight: 1,
    arbitrary: fc.array(fc.oneof(line, fc.string({unit: 'binary', maxLength: 5})), {maxLength: 12}),
  },
);

const APPLIES = ['--- a/a\n', '+++ b/a\n', '@@ -1,2 +1,2 @@\n', ' one\n', '-two\n', '+2\n'];

function tree(files: ReadonlyMap<string, string>): PatchTree {
  return {
    resolve: path => parseWritablePath(['/work'], path),
    read: async path => {
      const content = files.get(path);
      return {ok: true, value: content === undefined ? undefined : stateOf(content, 0o644)};
    },
    blockingFile: () => undefined,
  };
}

async function apply(
  input: string | Uint8Array,
  files: ReadonlyMap<string, string>,
): Promise<Result<OverlayResult>> {
  const parsed = parsePatch(input);
  return parsed.ok ? overlayPatch(tree(files), parsed.value.sections) : parsed;
}

function afterwards(files: ReadonlyMap<string, string>, changes: readonly FileChange[]): Map<string, string> {
  const next = new Map(files);
  for (const change of changes) {
    next.delete(change.from ?? change.path);
    if (change.new !== undefined) next.set(change.path, change.new.content);
  }
  return next;
}

describe('properties of patches', () => {
  test('W7 any text is refused with a code, or is a change that its undo takes back to the byte', async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(patch, async lines => {
        const done = await apply(lines.join(''), FILES);
        if (!done.ok) {
          expect(done.error.code).toMatch(
            /^(?:patch_parse_error|patch_hunk_fail|path_escape|file_not_found|not_a_file|invalid_params)$/,
          );
          return;
        }
        const after = afterwards(FILES, done.value.changes);
        const undo = atOnce(renderUndo(done.value.changes));
        if (undo.length === 0) return;
        applied += 1;
        const undone = await apply(undo, after);
        if (!undone.ok) throw new Error(undone.error.message);
        expect([...afterwards(after, undone.value.changes)].sort()).toEqual([...FILES].sort());
      }),
      // One that applies, for a run of few cases.
      {numRuns: 3000, seed: 11, examples: [[APPLIES]]},
    );
    expect(applied).toBeGreaterThan(0);
  });

  test('policy: bytes that are no text are a patch or refused, and never an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 400}), bytes => {
        parsePatch(bytes);
        parsePatch(Buffer.concat([bytesOf('--- a/a\n+++ b/a\n@@ -1 +1 @@\n'), bytes]));
      }),
      {numRuns: 1000, seed: 12},
    );
  });
});
