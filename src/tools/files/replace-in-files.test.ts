// biome-ignore-all lint/suspicious/noTemplateCurlyInString: groups of a pattern are written so
import {spawnSync} from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {openTestWorkspace} from '../../../test/support/open-test-workspace.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {readTree} from '../../../test/support/read-tree.ts';
import {fail, ok} from '../../core/result.ts';

const FILES = {
  'src/a.py': 'old = 1\nprint(old, older)\n',
  'src/b.py': 'x = old\r\ny = "old"\r\n',
  'c.md': 'Old and old',
  'none.txt': 'nothing here\n',
  '.gitignore': 'ignored.py\n',
  'ignored.py': 'old\n',
  'bin.dat': Buffer.from('old\0'),
  'latin.txt': Buffer.from('old \xe9\n', 'latin1'),
};

const read = ({root}: CallableWorkspace, path: string): string => readFileSync(join(root, path), 'utf8');

describe('replace_in_files', () => {
  test('W19: replaces a text in every file in one step, says how often, and is undone as one', async () => {
    const place = await callWorkspaceTools(FILES);
    chmodSync(join(place.root, 'src/a.py'), 0o755);
    const before = readTree(place.root);
    const done = await place.data('replace_in_files', {query: 'old', replacement: '$1', whole_word: true});
    expect(done).toEqual({
      replacements: 5,
      files: [
        {path: 'c.md', count: 1, added: 1, removed: 1, lines: [[1, 1]]},
        {path: 'src/a.py', count: 2, added: 2, removed: 2, lines: [[1, 2]]},
        {path: 'src/b.py', count: 2, added: 2, removed: 2, lines: [[1, 2]]},
      ],
      left_out: [{path: 'latin.txt', reason: 'not_utf8'}],
      left_out_total: 1,
      not_text: 1,
      unreadable: 0,
      undo_step: 1,
      dry_run: false,
    });
    expect(place.tool('replace_in_files').renderText(done)).toBe(
      '5 in 3 files · step 1\nc.md: line 1 · +1 −1\nsrc/a.py: lines 1–2 · +2 −2\nsrc/b.py: lines 1–2 · +2 −2\n' +
        '[files left out: 1 that match and cannot be changed, 1 binary]',
    );
    expect(read(place, 'src/a.py')).toBe('$1 = 1\nprint($1, older)\n');
    expect(read(place, 'src/b.py')).toBe('x = $1\r\ny = "$1"\r\n');
    expect(read(place, 'c.md')).toBe('Old and $1');
    expect(read(place, 'ignored.py')).toBe('old\n');
    expect(statSync(join(place.root, 'src/a.py')).mode & 0o777).toBe(0o755);
    await place.data('undo');
    expect(readTree(place.root)).toEqual(before);
  });

  test('W18: case, words, glob, path, and a file that is named though it is ignored', {
    tags: 'slow',
  }, async () => {
    const counts = async (params: object) => {
      const place = await callWorkspaceTools(FILES);
      const done = await place.data('replace_in_files', {
        query: 'old',
        replacement: 'new',
        dry_run: true,
        ...params,
      });
      return (done['files'] as {path: string; count: number}[]).map(({path, count}) => `${path} ${count}`);
    };
    expect(await counts({})).toEqual(['c.md 1', 'src/a.py 3', 'src/b.py 2']);
    expect(await counts({case_sensitive: false})).toEqual(['c.md 2', 'src/a.py 3', 'src/b.py 2']);
    expect(await counts({glob: '*.py'})).toEqual(['src/a.py 3', 'src/b.py 2']);
    expect(await counts({path: 'src', glob: 'a.*'})).toEqual(['src/a.py 3']);
    expect(await counts({path: 'ignored.py'})).toEqual(['ignored.py 1']);
  });

  test('policy: a file that may not be read is named, as it may hold a match', async () => {
    const place = await openTestWorkspace({'a.py': 'old', 'b.py': 'old', 'c.py': 'old'});
    const {workspace} = place.session;
    const openDirectory: typeof workspace.openDirectory = path => {
      const opened = workspace.openDirectory(path);
      if (!opened.ok) return opened;
      const directory = opened.value;
      const readSmallFile: typeof directory.readSmallFile = (name, into) =>
        name === 'b.py'
          ? fail('io_error', 'b.py', {path: 'b.py', error: 'EACCES', operation: 'read'})
          : directory.readSmallFile(name, into);
      return ok({...directory, readSmallFile});
    };
    const session = {...place.session, workspace: {...workspace, openDirectory}};
    const {data, tool, call} = await callWorkspaceTools({}, {workspace: {...place, session}});
    const done = await data('replace_in_files', {query: 'old', replacement: 'new'});
    expect(done).toMatchObject({replacements: 2, unreadable: 1, left_out: []});
    expect(tool('replace_in_files').renderText(done)).toContain('[files left out: 1 that may not be read]');
    const {error} = await call('replace_in_files', {query: 'zebra', replacement: 'new'});
    expect(error?.message).toContain('[files left out: 1 that may not be read]');
  });

  test('policy: a dry run shows the diff and changes nothing; the one who is asked sees the same', async () => {
    const asked: string[] = [];
    const approver = {
      ask: async ({summary, preview}: {summary: string; preview: string}) => {
        asked.push(summary, preview);
        return {answer: 'once'} as const;
      },
    };
    const place = await callWorkspaceTools(FILES, {approval: {mode: 'prompt'}, approver});
    const before = readTree(place.root);
    const params = {query: 'old', replacement: 'new', path: 'c.md'};
    const shown = await place.data('replace_in_files', {...params, dry_run: true});
    expect(readTree(place.root)).toEqual(before);
    expect(asked).toEqual([]);
    await place.data('replace_in_files', params);
    expect(asked[0]).toBe('replace_in_files 1 in 1 file ("old")');
    expect(asked[1]).toBe(shown['diff']);
  });

  test('policy: groups of a pattern; line ends stay those of the file', async () => {
    const place = await callWorkspaceTools({'f.c': 'f(a, b);\r\nf(c, d);\r\n', 'g.c': 'f(e, f);'});
    await place.data('replace_in_files', {
      query: '(?P<name>\\w+)\\((\\w), (\\w)\\)',
      replacement: '${name}_2($3,\n  $2) $$',
      is_regex: true,
    });
    expect(read(place, 'f.c')).toBe('f_2(b,\r\n  a) $;\r\nf_2(d,\r\n  c) $;\r\n');
    expect(read(place, 'g.c')).toBe('f_2(f,\n  e) $;');
    await place.data('replace_in_files', {query: ';[^,]*', replacement: '!', is_regex: true, path: 'f.c'});
    expect(read(place, 'f.c')).toBe('f_2(b,\r\n  a) $!\r\nf_2(d,\r\n  c) $!\r\n');
    await place.data('replace_in_files', {query: '^', replacement: '// ', is_regex: true, path: 'g.c'});
    expect(read(place, 'g.c')).toBe('// f_2(f,\n//   e) $;');
  });

  test('policy: a mark at the beginning of a file stays there', async () => {
    const place = await callWorkspaceTools({'bom.txt': '\ufeffold\nold'});
    await place.data('replace_in_files', {query: '^', replacement: '> ', is_regex: true});
    expect(read(place, 'bom.txt')).toBe('\ufeff> old\n> old');
  });

  test.each([
    ['$1_new', /names the group \$1_new; write \$\{1\}_new/],
    ['$2', /names the group \$2, and query has 1 group/],
    ['${x}', /names the group \$\{x\}, and query has 1 group/],
    ['\\1', /has a backslash before a number; write \$1/],
  ])('policy: %s, which would vanish from every place, is refused', async (replacement, says) => {
    const place = await callWorkspaceTools(FILES);
    const {error} = await place.call('replace_in_files', {query: '(old)', replacement, is_regex: true});
    expect(error).toMatchObject({error_type: 'invalid_params', message: expect.stringMatching(says)});
    expect(read(place, 'c.md')).toBe(FILES['c.md']);
  });

  test('policy: nothing to replace is a failure that says what was looked at', async () => {
    const place = await callWorkspaceTools(FILES);
    const {error} = await place.call('replace_in_files', {query: 'zebra', replacement: 'x'});
    expect(error).toMatchObject({error_type: 'no_match'});
    expect(error?.message).toBe(
      'Nothing to replace for "zebra" in the 6 files that were searched. [files left out: 1 binary] Case counts; case_sensitive=false ignores it.',
    );
    expect(await place.code('replace_in_files', {query: 'old', replacement: 'old'})).toBe('no_match');
    expect(await place.code('replace_in_files', {query: '(old', replacement: 'x', is_regex: true})).toBe(
      'ripgrep_error',
    );
    expect(await place.code('replace_in_files', {query: 'old', replacement: 'x', path: '../x'})).toBe(
      'path_escape',
    );
    expect(await place.code('replace_in_files', {query: 'old', replacement: 'x', path: 'nowhere'})).toBe(
      'file_not_found',
    );
  });

  test('W1: links, hard links and .git are not changed', async () => {
    const place = await callWorkspaceTools({'a.txt': 'old', 'b.txt': 'old', '.git/config': 'old'});
    symlinkSync('a.txt', join(place.root, 'link'));
    linkSync(join(place.root, 'b.txt'), join(place.outside, 'second-name'));
    const done = await place.data('replace_in_files', {query: 'old', replacement: 'new'});
    expect(done).toMatchObject({
      files: [{path: 'a.txt', count: 1}],
      left_out: [{path: 'b.txt', reason: 'hard_linked'}],
    });
    expect(read(place, 'b.txt')).toBe('old');
    expect(read(place, '.git/config')).toBe('old');
    expect(await place.code('replace_in_files', {query: 'old', replacement: 'x', path: 'link'})).toBe(
      'symlink_blocked',
    );
  });

  test('W6: files that were read are known afterwards, and others are not', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('read_file', {path: 'src/a.py'});
    await place.data('replace_in_files', {query: 'old', replacement: 'new'});
    const params = {old_string: 'new = 1', new_string: 'x'};
    expect(await place.code('str_replace', {path: 'src/a.py', ...params})).toBe('ok');
    expect(await place.code('str_replace', {path: 'src/b.py', ...params})).toBe('not_read');
  });

  test('W19: a file that changes between the plan and the commit leaves all of them as they were', async () => {
    const approver = {
      ask: async () => {
        appendFileSync(join(place.root, 'src/b.py'), 'z = old\n');
        return {answer: 'once'} as const;
      },
    };
    const place: CallableWorkspace = await callWorkspaceTools(FILES, {approval: {mode: 'prompt'}, approver});
    expect(await place.code('replace_in_files', {query: 'old', replacement: 'new'})).toBe('stale_read');
    expect(read(place, 'src/a.py')).toBe(FILES['src/a.py']);
    expect(read(place, 'c.md')).toBe(FILES['c.md']);
  });

  test('policy: a pattern that other engines never end on, and one that is too large, hold nothing up', {
    tags: 'stress',
  }, async () => {
    const place = await callWorkspaceTools({'a.txt': `${'a'.repeat(200_000)}!\n`});
    const params = {query: '^(a+)+$', replacement: 'x', is_regex: true};
    expect(await place.code('replace_in_files', params)).toBe('no_match');
    const huge = {...params, query: '(((a{100}){100}){100}){100}'};
    expect(await place.code('replace_in_files', huge)).toBe('ripgrep_error');
  });

  test('policy: more matches, or more bytes, than are replaced at once are refused', {
    tags: 'stress',
  }, async () => {
    const place = await callWorkspaceTools({'a.txt': 'x '.repeat(50_001), 'b.txt': 'y\n'.repeat(50_001)});
    for (const query of ['x', 'y']) {
      const {error} = await place.call('replace_in_files', {query, replacement: 'z'});
      expect(error).toMatchObject({error_type: 'invalid_params', details: {field: 'query'}});
      expect(error?.message).toMatch(/50000|50001.*Narrow it with glob or path/);
    }
    writeFileSync(join(place.root, 'a.txt'), 'x '.repeat(50_000));
    const long = {query: 'x', replacement: 'z'.repeat(1000), path: 'a.txt'};
    expect(await place.code('replace_in_files', long)).toBe('file_too_large');
    expect(read(place, 'b.txt')).toBe('y\n'.repeat(50_001));
  });

  test('policy: what becomes of a file is what ripgrep prints with --passthru --replace', {
    tags: 'stress',
    timeout: 60_000,
  }, async () => {
    const place = await callWorkspaceTools({'f.txt': ''});
    const {command} = unwrap(await place.session.ripgrep());
    const patterns = fc.constantFrom(
      '(a)(b)?',
      'b*',
      '^',
      '$',
      '\\b',
      '[ab]+',
      'a|é',
      '(?i)A(b)',
      '\\s',
      '(.)$',
    );
    const templates = fc.constantFrom('x', '', '$0$0', '<$1>', '${1}a', '$$', 'a$');
    const texts = fc.string({unit: fc.constantFrom('a', 'b', 'é', ' ', '\n', '😀', '$'), maxLength: 40});
    await fc.assert(
      fc.asyncProperty(patterns, templates, texts, async (query, replacement, text) => {
        fc.pre(
          query.includes('(a)') || query.includes('(b)') || query === '(.)$' || !replacement.includes('1'),
        );
        const content = `${text}\n`;
        const file = join(place.root, 'f.txt');
        writeFileSync(file, content);
        // biome-ignore format: a list
        const args = [
          '--no-config', '--passthru', '--text', '--crlf', '--encoding=none', '-N', '--replace', replacement,
        ];
        const expected = spawnSync(command, [...args, '-e', query, '-'], {
          input: content,
        }).stdout.toString();
        const {error} = await place.call('replace_in_files', {query, replacement, is_regex: true});
        expect(error?.error_type ?? 'ok').toBe(expected === content ? 'no_match' : 'ok');
        expect(readFileSync(file, 'utf8')).toBe(expected);
      }),
      {numRuns: 60},
    );
  });
});
