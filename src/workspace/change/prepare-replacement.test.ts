import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {fail} from '../../core/result.ts';
import {openWorkspace} from '../jail/jail.ts';
import {contentHash} from '../open-file.ts';
import {ReadTracker} from '../read-tracker.ts';
import {prepareReplacement} from './prepare-replacement.ts';
import {prepareWrite} from './prepare-write.ts';

/** A file `f.txt` that the session has read. */
function opened(content: string | Buffer) {
  const root = temporaryDirectory();
  writeFileSync(join(root, 'f.txt'), content);
  const workspace = unwrap(openWorkspace(root));
  const tracker = new ReadTracker();
  const path = unwrap(workspace.resolveForWrite('f.txt'));
  tracker.record(path, contentHash(Buffer.from(content)));
  return {
    root,
    replace: (...edits: readonly (readonly [string, string, boolean?])[]) =>
      prepareReplacement(workspace, tracker, {
        path,
        edits: edits.map(([oldString, newString, replaceAll = false]) => ({
          oldString,
          newString,
          replaceAll,
        })),
      }),
    late: () =>
      prepareReplacement(
        workspace,
        tracker,
        {path, edits: [{oldString: 'a', newString: 'b', replaceAll: false}]},
        pretendDeadline({spent: true, failure: () => fail('timeout', 'Too late.', {phase: 'total'})}),
      ),
    write: (name: string, text: string | Uint8Array) =>
      prepareWrite(workspace, tracker, unwrap(workspace.resolveForWrite(name)), text),
  };
}

describe('W18: several edits of one file', () => {
  test('W18: each is made in the result of the one before, and together they are one change', async () => {
    const {replace, root} = opened('one\ntwo\nthree\nfour\n');
    const {change, match, matches} = unwrap(await replace(['two', '2\n2'], ['three', '3'], ['2\n2\n3', '5']));
    expect(change).toMatchObject({
      path: 'f.txt',
      old: {content: 'one\ntwo\nthree\nfour\n'},
      new: {content: 'one\n5\nfour\n', hash: contentHash(Buffer.from('one\n5\nfour\n'))},
    });
    expect(match).toEqual({lines: [2, 3], count: 3});
    expect(matches).toEqual([
      {lines: [2, 2], count: 1},
      {lines: [4, 4], count: 1},
      {lines: [2, 4], count: 1},
    ]);
    expect(readFileSync(join(root, 'f.txt'), 'utf8')).toBe('one\ntwo\nthree\nfour\n');
  });

  test('W18: where one of them took over CRLF, the whole says so', async () => {
    const {replace} = opened('one\r\ntwo\r\n');
    const {match, matches} = unwrap(await replace(['two', '2'], ['one', '1\n1']));
    expect(match).toEqual({lines: [1, 2], count: 2, line_endings: 'crlf'});
    expect(matches).toEqual([
      {lines: [2, 2], count: 1},
      {lines: [1, 1], count: 1, line_endings: 'crlf'},
    ]);
  });

  test('W18: edits that add lines only have a first line and a last', async () => {
    const {replace} = opened('a\nb\n');
    expect(unwrap(await replace(['a\n', 'a\nx\n'], ['x', 'y'])).match).toEqual({lines: [2, 2], count: 2});
  });

  test('W18: edits that come to nothing are no change', async () => {
    const {replace} = opened('a b\n');
    const {change, match} = unwrap(await replace(['a', 'c'], ['c', 'a']));
    expect(change.new.hash).toBe(change.old?.hash);
    expect(match.count).toBe(2);
  });

  test('W18: a single one is told as it is', async () => {
    const {replace} = opened('a a\na');
    const {match, matches} = unwrap(await replace(['a', 'b', true]));
    expect(match).toEqual({lines: [1, 2], count: 3});
    expect(matches).toEqual([match]);
    // Of a longer text the first line stays as it was, and is part of the place all the same.
    expect(unwrap(await opened('one\ntwo\n').replace(['one\ntwo', 'one\n2'])).match).toEqual({
      lines: [1, 2],
      count: 1,
    });
    expect(await opened('a').replace(['b', 'c'])).toMatchObject({
      error: {message: expect.stringMatching(/^old_string does not occur in "f\.txt"\./)},
    });
  });

  test('W18: the first that fails is named, and nothing is written', async () => {
    const fails = async (...edits: readonly (readonly [string, string])[]) => {
      const done = await opened('one\ntwo\nthree\n').replace(...edits);
      return done.ok ? undefined : done.error;
    };
    const no = 'old_string does not occur in "f.txt". No line of the file is similar. Read the file again.';
    const was = (earlier: string): string =>
      ` It was there before ${earlier}: each edit works on the result of the one before.`;
    expect((await fails(['x', 'y'], ['one', '1']))?.message).toBe(`Edit 1 of 2: ${no} Nothing was written.`);
    expect((await fails(['one', '1'], ['x', 'y']))?.message).toBe(`Edit 2 of 2: ${no} Nothing was written.`);
    const second = await fails(['two', '2'], ['two', '3'], ['one', '1']);
    expect(second?.message).toBe(`Edit 2 of 3: ${no}${was('edit 1')} Nothing was written.`);
    expect(second).toMatchObject({code: 'no_match', details: {edit: 2, path: 'f.txt'}});
    expect((await fails(['two', '2'], ['one', '1'], ['two', '3']))?.message).toBe(
      `Edit 3 of 3: ${no}${was('the 2 edits before it')} Nothing was written.`,
    );
    expect(await fails(['one', 'two'], ['two', '2'])).toMatchObject({
      code: 'ambiguous_match',
      message:
        'Edit 2 of 2: old_string occurs 2 times in "f.txt", on lines 1, 2. Add surrounding lines until it is unique, or set line or replace_all. Nothing was written.',
      details: {edit: 2, count: 2, lines: [1, 2]},
    });
  });

  test('W6: what is no UTF-8 text is not edited', async () => {
    expect(await opened(Buffer.from([0xff, 0x61])).replace(['a', 'b'])).toMatchObject({
      ok: false,
      error: {code: 'binary_file', message: '"f.txt" is not UTF-8 text.', details: {path: 'f.txt'}},
    });
  });

  test('policy: no edit is begun behind the deadline', async () => {
    expect(await opened('a').late()).toMatchObject({ok: false, error: {code: 'timeout'}});
  });
});

describe('policy: a file is written whole up to 32 MiB', () => {
  const MOST = 32 * 1024 * 1024;

  test('policy: by write_file', {tags: 'stress'}, async () => {
    const {write} = opened('a\r\n');
    const {old, new: fresh} = unwrap(await write('new', new Uint8Array(MOST))).change;
    expect([old, fresh.bytes.length]).toEqual([undefined, MOST]);
    const message = `The new content of "new" has ${MOST + 1} bytes, more than the ${MOST} that are written at once. Use run for a file of that size.`;
    expect(await write('new', new Uint8Array(MOST + 1))).toMatchObject({
      error: {code: 'file_too_large', message},
    });
    // Each line feed becomes two bytes here.
    const lines = '\n'.repeat(MOST / 2);
    expect(unwrap(await write('f.txt', lines)).change.new.bytes.length).toBe(MOST);
    expect(await write('f.txt', `${lines}x`)).toMatchObject({
      error: {code: 'file_too_large', details: {size: MOST + 1}},
    });
  });

  test('policy: by str_replace', {tags: 'slow'}, async () => {
    const {replace} = opened('ab');
    const large = 'x'.repeat(MOST - 1);
    expect(unwrap(await replace(['a', large])).change.new.bytes.length).toBe(MOST);
    expect(await replace(['a', `${large}x`])).toMatchObject({error: {code: 'file_too_large'}});
  });

  test('ruling W13: a file with CRLF throughout keeps it where the new content has none', async () => {
    const {write} = opened('a\r\n');
    const written = async (text: string) => {
      const {change, lineEndings} = unwrap(await write('f.txt', text));
      return [Buffer.from(change.new.bytes).toString(), lineEndings];
    };
    expect(await written('b\nc\n')).toEqual(['b\r\nc\r\n', 'crlf']);
    expect(await written('b\r\nc\n')).toEqual(['b\r\nc\n', undefined]);
    expect(await written('b')).toEqual(['b', undefined]);
    expect(unwrap(await write('new', 'b\n')).lineEndings).toBeUndefined();
    expect(unwrap(await opened('a\n').write('f.txt', 'b\n')).lineEndings).toBeUndefined();
  });
});
