import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {undoStep} from '../change/undo-step.ts';

const TEXT = 'a = old\r\nb = old + old\r\nc = 1\r\n';

async function opened(content: string | Buffer): Promise<CallableWorkspace> {
  const place = await callWorkspaceTools({'f.txt': content});
  await place.data('read_file', {path: 'f.txt'});
  return place;
}

const read = ({root}: CallableWorkspace): string => readFileSync(join(root, 'f.txt'), 'utf8');

describe('str_replace with replace_all', () => {
  test('W18: replaces each place, says how many, and is undone as one step', async () => {
    const place = await opened(TEXT);
    const params = {path: 'f.txt', old_string: 'old', new_string: 'new\nx'};
    expect(await place.code('str_replace', params)).toBe('ambiguous_match');
    expect(await place.code('str_replace', {...params, replace_all: false})).toBe('ambiguous_match');
    const done = await place.data('str_replace', {...params, replace_all: true});
    expect(done).toMatchObject({
      match: {lines: [1, 2], count: 3, line_endings: 'crlf'},
      added: 5,
      removed: 2,
    });
    expect(done).not.toHaveProperty('edits');
    expect(read(place)).toBe(TEXT.replaceAll('old', 'new\r\nx'));
    expect(place.tool('str_replace').renderText(done)).toMatch(/^f\.txt \| \+5 -2 \(3 places\)\n/);
    unwrap(await undoStep(place.session, place.runDirectory, 4));
    expect(read(place)).toBe(TEXT);
  });

  test('W18: places that overlap are taken from the beginning on, and one place is enough', async () => {
    const place = await opened('aaaaa b');
    await place.data('str_replace', {path: 'f.txt', old_string: 'aa', new_string: 'a', replace_all: true});
    expect(read(place)).toBe('aaa b');
    await place.data('str_replace', {path: 'f.txt', old_string: 'b', new_string: '$&', replace_all: true});
    expect(read(place)).toBe('aaa $&');
  });

  test('policy: a result that is too large is refused before it is built', async () => {
    const place = await opened('a'.repeat(1024 * 1024));
    const params = {path: 'f.txt', old_string: 'a', new_string: 'b'.repeat(4096), replace_all: true};
    const {error} = await place.call('str_replace', params);
    expect(error).toMatchObject({error_type: 'file_too_large', details: {size: 4096 * 1024 * 1024}});
    expect(read(place)).toBe('a'.repeat(1024 * 1024));
  });

  test('W6: any text is what JavaScript makes of it', {tags: 'slow'}, async () => {
    const place = await opened('');
    const text = fc.string({unit: fc.constantFrom('a', 'b', 'é', '\n', '😀')});
    await fc.assert(
      fc.asyncProperty(text, text, text, async (content, old, fresh) => {
        fc.pre(old !== '' && old !== fresh && content.includes(old));
        writeFileSync(join(place.root, 'f.txt'), content);
        await place.data('read_file', {path: 'f.txt'});
        const done = await place.data('str_replace', {
          path: 'f.txt',
          old_string: old,
          new_string: fresh,
          replace_all: true,
        });
        expect(read(place)).toBe(content.replaceAll(old, () => fresh));
        expect(done).toMatchObject({match: {count: content.split(old).length - 1}});
      }),
      {numRuns: 30},
    );
  });
});

describe('str_replace with edits', () => {
  test('W18: edits are made in order, each in the result of the one before, as one step', async () => {
    const place = await opened(TEXT);
    const done = await place.data('str_replace', {
      path: 'f.txt',
      edits: [
        {old_string: 'c = 1', new_string: 'c = old'},
        {old_string: 'old', new_string: 'new', replace_all: true},
        {old_string: 'c = new', new_string: 'c = 2\nd = 3'},
      ],
    });
    expect(done).toMatchObject({
      match: {lines: [1, 3], count: 6, line_endings: 'crlf'},
      edits: [
        {lines: [3, 3], count: 1},
        {lines: [1, 3], count: 4},
        {lines: [3, 3], count: 1, line_endings: 'crlf'},
      ],
      added: 4,
      removed: 3,
    });
    expect(read(place)).toBe('a = new\r\nb = new + new\r\nc = 2\r\nd = 3\r\n');
    const applied = (await place.runtime.events()).filter(({event}) => event === 'PATCH_APPLIED');
    expect(applied).toMatchObject([{payload: {step: 2, changed_files: ['f.txt']}}]);
    unwrap(await undoStep(place.session, place.runDirectory, 2));
    expect(read(place)).toBe(TEXT);
  });

  test.each([
    [
      'no_match',
      {old_string: 'zebra', new_string: 'x'},
      /^Edit 2 of 3: old_string does not occur in "f\.txt"\./,
    ],
    ['no_match', {old_string: 'c = 1', new_string: 'x'}, /It was there before edit 1: each edit works on/],
    ['ambiguous_match', {old_string: 'old', new_string: 'x'}, /^Edit 2 of 3: old_string occurs 3 times/],
    ['invalid_params', {old_string: '', new_string: 'x'}, /^Edit 2 of 3: old_string is empty\./],
    [
      'invalid_params',
      {old_string: 'b', new_string: 'b'},
      /^Edit 2 of 3: old_string and new_string are equal/,
    ],
  ])(
    'W18: where one edit does not fit (%s) none is made, and the message says which',
    async (code, edit, says) => {
      const place = await opened(TEXT);
      const edits = [{old_string: 'c = 1', new_string: 'd = 2'}, edit, {old_string: 'a', new_string: 'x'}];
      const {error} = await place.call('str_replace', {path: 'f.txt', edits});
      expect(error).toMatchObject({
        error_type: code,
        details: {edit: 2},
        message: expect.stringMatching(says),
      });
      expect(error?.message).toMatch(/ Nothing was written\.$/);
      expect(read(place)).toBe(TEXT);
    },
  );

  test('policy: a list of one is told like a single edit, and one that changes nothing writes nothing', async () => {
    const place = await opened('one\n');
    const {error} = await place.call('str_replace', {
      path: 'f.txt',
      edits: [{old_string: 'two', new_string: 'x'}],
    });
    expect(error?.message).toMatch(/^old_string does not occur/);
    const back = [
      {old_string: 'one', new_string: 'two'},
      {old_string: 'two', new_string: 'one'},
    ];
    expect(await place.data('str_replace', {path: 'f.txt', edits: back})).toMatchObject({
      added: 0,
      removed: 0,
    });
    expect((await place.runtime.events()).filter(({event}) => event === 'PATCH_APPLIED')).toEqual([]);
  });

  test.each([
    ['old_string', {}],
    ['new_string', {old_string: 'a'}],
    ['edits', {old_string: 'a', new_string: 'b', edits: [{old_string: 'a', new_string: 'b'}]}],
    ['edits', {replace_all: true, edits: [{old_string: 'a', new_string: 'b'}]}],
    ['edits', {edits: []}],
    ['edits.0.old_str', {edits: [{old_string: 'a', new_string: 'b', old_str: 'a'}]}],
    ['edits', {edits: Array(201).fill({old_string: 'a', new_string: 'b'})}],
  ])('policy: wrong parameters name %s', async (field, params) => {
    const {error} = await (await opened(TEXT)).call('str_replace', {path: 'f.txt', ...params});
    expect(error).toMatchObject({error_type: 'invalid_params', details: {field}});
  });

  test('W19: a list of edits sent beside a single one of the same session is worked out anew', async () => {
    const place = await opened(TEXT);
    const codes = await Promise.all([
      place.code('str_replace', {path: 'f.txt', old_string: 'c = 1', new_string: 'c = 2'}),
      place.code('str_replace', {path: 'f.txt', edits: [{old_string: 'a = old', new_string: 'a = 7'}]}),
    ]);
    expect(codes).toEqual(['ok', 'ok']);
    expect(read(place)).toBe('a = 7\r\nb = old + old\r\nc = 2\r\n');
  });
});

test('ruling H2: null leaves out what an edit may leave out', async () => {
  const place = await callWorkspaceTools({'a.txt': 'one\n'});
  await place.data('read_file', {path: 'a.txt'});
  const edits = [{old_string: 'one', new_string: 'two', replace_all: null}];
  expect(await place.code('str_replace', {path: 'a.txt', edits})).toBe('ok');
});
