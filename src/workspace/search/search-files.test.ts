import {execFileSync} from 'node:child_process';
import {readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  openTestWorkspace,
  type TestFiles,
  type TestWorkspace,
} from '../../../test/support/open-test-workspace.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import type {Result} from '../../core/result.ts';
import type {ProcessRunner} from '../process-runner.ts';
import {compileGlob} from '../walk/glob.ts';
import {bytewise} from '../walk/tree-walk.ts';
import {type SearchAnswer, type SearchRequest, searchFiles} from './search-files.ts';

async function search(
  {session}: TestWorkspace,
  text: string,
  request: Partial<Omit<SearchRequest, 'glob'>> & {glob?: string} = {},
  searching = new AbortController().signal,
  reading = new AbortController().signal,
): Promise<Result<SearchAnswer>> {
  const {glob, ...rest} = request;
  return searchFiles(
    {
      text,
      isRegex: false,
      maxResults: 50,
      contextLines: 0,
      ...rest,
      glob: glob === undefined ? undefined : unwrap(compileGlob(glob, 'glob')),
    },
    {
      ripgrep: unwrap(await session.ripgrep()),
      workspace: session.workspace,
      searching,
      reading: pretendDeadline({
        signal: reading,
        spent: false,
        failure: () => {
          throw new Error('Not spent');
        },
      }),
    },
  );
}

/** `file:line` of the matches. */
async function places(
  files: TestFiles,
  text: string,
  request: Parameters<typeof search>[2] = {},
): Promise<string[]> {
  const found = unwrap(await search(await openTestWorkspace(files), text, request));
  expect(found.complete).toBe(true);
  return found.matches.map(({file, line}) => `${file}:${line}`);
}

async function* tap(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array> | undefined,
  onBlock: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const block of source ?? []) {
    onBlock();
    yield block;
  }
}

describe('search-files', () => {
  test('Tool API: lines that contain the text, in any case, with the lines around them', async () => {
    const workspace = await openTestWorkspace({
      'src/main.py': '\n# Entry point\nDef Main():\n    print(1)\n',
    });
    expect(unwrap(await search(workspace, 'def main', {contextLines: 2}))).toMatchObject({
      matches: [
        {
          file: 'src/main.py',
          line: 3,
          content: 'Def Main():',
          context_before: ['', '# Entry point'],
          context_after: ['    print(1)'],
        },
      ],
      total: 1,
      complete: true,
    });
  });

  test('Tool API: ordered by file path, bytewise, then by line', async () => {
    const files = {'a/x': 'm\nm\n', 'a-b': 'm', 'a.b': 'm', ab: 'm\n', '\uffee': 'm', '\u{1f600}': 'm'};
    expect(await places(files, 'm')).toEqual([
      'a-b:1',
      'a.b:1',
      'a/x:1',
      'a/x:2',
      'ab:1',
      '\uffee:1',
      '\u{1f600}:1',
    ]);
  });

  test('ruling W4: the total counts all matching lines, also past max_results', async () => {
    const files = Object.fromEntries(Array.from({length: 30}, (_, at) => [`f${at}`, 'm m\nno\n'.repeat(at)]));
    const found = unwrap(await search(await openTestWorkspace(files), 'm', {maxResults: 7}));
    expect(found.total).toBe((29 * 30) / 2);
    expect(found.matches.map(({file, line}) => `${file}:${line}`)).toEqual([
      'f1:1',
      ...Array.from({length: 6}, (_, at) => `f10:${2 * at + 1}`),
    ]);
  });

  test('ruling W4: hidden files are searched, ignored ones and .git are not', async () => {
    const files = {
      '.gitignore': '*.log\n/dist/\n',
      'sub/.gitignore': 'x\n',
      '.env': 'm',
      '.github/w': 'm',
      'a.log': 'm',
      'dist/a': 'm',
      'sub/x': 'm',
      'sub/y': 'm',
      '.git/config': 'm',
      'w/.git': 'm',
      '.ignore': 'sub/y',
      '.rgignore': 'sub/y',
    };
    expect(await places(files, 'm')).toEqual(['.env:1', '.github/w:1', 'sub/y:1']);
    // A glob asks for files, it does not bring back ignored ones, as it would for `rg -g`.
    expect(await places(files, 'm', {glob: '**'})).toEqual(['.env:1', '.github/w:1', 'sub/y:1']);
    expect(await places(files, 'm', {glob: '*.log'})).toEqual([]);
    expect(await places(files, 'm', {glob: '.git/**'})).toEqual([]);
    expect(await places(files, 'm', {glob: '!sub'})).toEqual(['.env:1', '.github/w:1']);
  });

  test('Tool API: binary files are skipped, also where the NUL comes late', async () => {
    const late = Buffer.concat([Buffer.from('m\n'.repeat(100_000)), Buffer.from([0])]);
    expect(
      await places({a: 'm', b: Buffer.from('m\0'), c: late, d: Buffer.from('\ufeffm', 'utf16le')}, 'm'),
    ).toEqual(['a:1']);
  });

  test('what is not UTF-8 in a line is shown as U+FFFD; a BOM and other lines are as they are', async () => {
    const workspace = await openTestWorkspace({
      a: Buffer.from([0xef, 0xbb, 0xbf, 0x6d, 0xff, 0x0d, 0x0a]),
      b: 'm\r\nx\r',
    });
    const {matches} = unwrap(await search(workspace, 'm', {contextLines: 1}));
    expect(matches.map(({content, context_after}) => [content, context_after])).toEqual([
      ['\ufeffm\ufffd', []],
      ['m', ['x']],
    ]);
  });

  test('a long line is cut around its match, and says so', async () => {
    const workspace = await openTestWorkspace({
      a: `${'\u00e9'.repeat(5000)}match${'\u00e9'.repeat(5000)}\n`,
      b: `match${'x'.repeat(1_000_000)}`,
    });
    const [far, near] = unwrap(await search(workspace, 'match')).matches;
    expect(far?.content).toMatch(/^\[… 9900 bytes\] \u00e9{50}match\u00e9{197} \[… 9606 bytes\]$/);
    expect(near?.content).toMatch(/^matchx{495} \[… 999505 bytes\]$/);
  });

  test('an answer of many matches in long lines stays small', async () => {
    const workspace = await openTestWorkspace({a: `${'m'.repeat(300_000)}\n`.repeat(20)});
    const {matches, total} = unwrap(await search(workspace, 'm'));
    expect(total).toBe(20);
    expect(JSON.stringify(matches).length).toBeLessThan(20_000);
  });

  test('a regular expression; a caret and a dollar hold at CRLF too', async () => {
    expect(await places({a: 'foo1\r\nfoo\r\nbar2\n'}, '^(foo|bar)[0-9]$', {isRegex: true})).toEqual([
      'a:1',
      'a:3',
    ]);
    expect(await places({a: 'a.c\nabc\n'}, 'a.c')).toEqual(['a:1']);
  });

  test('ruling W4: an invalid regex is ripgrep_error, in its own words', async () => {
    const result = await search(await openTestWorkspace({a: 'm'}), 'foo(', {isRegex: true});
    expect(codeOf(result)).toBe('ripgrep_error');
    expect(result.ok || result.error.details).toMatchObject({
      error: expect.stringContaining('unclosed group'),
      exit_code: 2,
    });
  });

  test('policy: a query or glob that looks like an option is none', async () => {
    const marker = '/tmp/forge-search-must-not-exist';
    rmSync(marker, {force: true});
    const workspace = await openTestWorkspace({
      'prog.sh': `#!/bin/sh\ntouch ${marker}\n`,
      a: '--pre=./prog.sh\n-f\n',
      '-x': '--pre=./prog.sh\n',
      '--pre=./prog.sh/a': 'm',
    });
    for (const query of ['--pre=./prog.sh', '-f', '--', '-e', '-']) {
      expect([query, codeOf(await search(workspace, query))]).toEqual([query, 'ok']);
      expect([query, codeOf(await search(workspace, query, {isRegex: true}))]).toEqual([query, 'ok']);
    }
    expect(unwrap(await search(workspace, '--pre=./prog.sh')).total).toBe(2);
    for (const glob of ['--pre=./prog.sh', '-x', '--', '-uuu', '--pre=./prog.sh/*']) {
      expect([glob, codeOf(await search(workspace, 'm', {glob}))]).toEqual([glob, 'ok']);
    }
    expect(unwrap(await search(workspace, 'pre', {glob: '-x'})).matches).toMatchObject([{file: '-x'}]);
    expect(() => readFileSync(marker)).toThrow('ENOENT');
  });

  test('policy: no configuration, no environment and no path reach ripgrep', async () => {
    const seen: unknown[] = [];
    const workspace = await openTestWorkspace({a: 'm'});
    const ripgrep = unwrap(await workspace.session.ripgrep());
    const spy: ProcessRunner = {
      run: request => {
        seen.push(request.env ?? {});
        expect(request.args[0]).toBe('--no-config');
        expect(request.args.slice(-2)).toEqual(['--', '-']);
        return ripgrep.processes.run(request);
      },
    };
    const session = {
      ...workspace.session,
      ripgrep: async () => ({ok: true as const, value: {...ripgrep, processes: spy}}),
    };
    expect(unwrap(await search({...workspace, session}, 'm')).total).toBe(1);
    expect(seen).toEqual([{}]);
  });

  test('ruling W1: links are not followed, and what a file was exchanged for is not shown', async () => {
    const workspace = await openTestWorkspace({a: 'm', b: 'm inside'});
    const {root, outside, session} = workspace;
    writeFileSync(join(outside, 'secret'), 'm secret');
    symlinkSync(join(outside, 'secret'), join(root, 'link'));
    symlinkSync(outside, join(root, 'directory'));
    const ripgrep = unwrap(await session.ripgrep());
    // Between the search and the look at the lines, one file becomes a link.
    const swapping: ProcessRunner = {
      run: async request => {
        const end = await ripgrep.processes.run(request);
        rmSync(join(root, 'b'));
        symlinkSync(join(outside, 'secret'), join(root, 'b'));
        return end;
      },
    };
    const swapped = {
      ...session,
      ripgrep: async () => ({ok: true as const, value: {...ripgrep, processes: swapping}}),
    };
    const found = unwrap(await search({...workspace, session: swapped}, 'm'));
    expect(found.matches.map(({file, content}) => [file, content])).toEqual([['a', 'm']]);
  });

  test('Tool API: when time runs out, what was found is there', async () => {
    const long = `m\n${'x'.repeat(99)}\n`.repeat(5000);
    const workspace = await openTestWorkspace({a: long, b: long, c: long});
    const ripgrep = unwrap(await workspace.session.ripgrep());
    const controller = new AbortController();
    let blocks = 0;
    // Time runs out when the text of the second file begins.
    const slow: ProcessRunner = {
      run: request =>
        ripgrep.processes.run({
          ...request,
          stdin: tap(request.stdin, () => {
            blocks += 1;
            if (blocks === 3) controller.abort();
          }),
        }),
    };
    const session = {
      ...workspace.session,
      ripgrep: async () => ({ok: true as const, value: {...ripgrep, processes: slow}}),
    };
    const found = unwrap(await search({...workspace, session}, 'm', {}, controller.signal));
    expect(found).toMatchObject({complete: false, matches: {length: 50, 0: {file: 'a', line: 1}}});
    expect(found.total).toBeGreaterThanOrEqual(5000);
    expect(found.total).toBeLessThan(10_000);
  });

  test.each([{}, {onlyCounts: true}, {multiline: true}, {maxResults: 1}])(
    'conformance V1: a ripgrep that takes the text and does not end has not finished (%j)',
    async request => {
      const workspace = await openTestWorkspace({a: 'm\n'});
      const command = join(workspace.outside, 'rg');
      writeFileSync(command, '#!/bin/sh\ncat > /dev/null\nexec sleep 600\n', {mode: 0o755});
      const {processes} = unwrap(await workspace.session.ripgrep());
      const controller = new AbortController();
      // Time runs out when all of the text was handed over.
      async function* thenAbort(blocks: Parameters<typeof tap>[0]): AsyncGenerator<Uint8Array> {
        yield* tap(blocks, () => {});
        controller.abort();
      }
      const unfinished: ProcessRunner = {
        run: run => processes.run({...run, stdin: thenAbort(run.stdin)}),
      };
      const session = {
        ...workspace.session,
        ripgrep: async () => ({ok: true as const, value: {command, processes: unfinished}}),
      };
      const never = new AbortController().signal;
      const found = unwrap(await search({...workspace, session}, 'm', request, never, controller.signal));
      expect(found).toMatchObject({complete: false, matches: [], total: 0});
    },
  );

  test('ruling W1: ripgrep opens no .gitignore: one that is a link, or a FIFO, does no harm', async () => {
    const workspace = await openTestWorkspace({'sub/a.log': 'm', 'sub/b': 'm', 'more/c.log': 'm', x: 'm'});
    const {root, outside} = workspace;
    writeFileSync(join(outside, 'patterns'), 'x\n');
    symlinkSync('/dev/zero', join(root, '.gitignore'));
    symlinkSync(join(outside, 'patterns'), join(root, 'sub/.gitignore'));
    for (const name of ['.ignore', '.rgignore', 'more/.gitignore'])
      execFileSync('mkfifo', [join(root, name)]);
    const {matches} = unwrap(await search(workspace, 'm'));
    expect(matches.map(({file}) => file)).toEqual(['more/c.log', 'sub/a.log', 'sub/b', 'x']);
  });

  test('review R5: small and large files, with and without an end of line: each match is where it is', {
    tags: 'stress',
  }, async () => {
    const lines = (count: number) => 'abcdefg\n'.repeat(count);
    const files = {
      a: 'm',
      b: `${lines(20_000)}m`,
      c: '',
      d: `m\n${lines(40_000)}\nm\n`,
      e: lines(8191),
      f: `${lines(8192)}m`,
      g: 'x\nm',
      h: Buffer.concat([Buffer.from(lines(10_000)), Buffer.from('m\n\0')]),
      i: 'm',
    };
    const expected = ['a:1', 'b:20001', 'd:1', 'd:40003', 'f:8193', 'g:2', 'i:1'];
    expect(await places(files, 'm')).toEqual(expected);
    for (const maxResults of [1, 2, 3, 5]) {
      expect(await places(files, 'm', {maxResults})).toEqual(expected.slice(0, maxResults));
      const found = unwrap(await search(await openTestWorkspace(files), 'm', {maxResults}));
      expect(found.total).toBe(expected.length);
    }
  });

  test('W14: a line that is shown in part says so, and no other', async () => {
    const workspace = await openTestWorkspace({
      a: `${'m'.repeat(500)}\n${'m'.repeat(501)}\n${'x'.repeat(600)}\nm\n`,
    });
    const {matches} = unwrap(await search(workspace, 'm', {contextLines: 1}));
    expect(matches.map(({line, content_truncated}) => [line, content_truncated])).toEqual([
      [1, undefined],
      [2, true],
      [4, undefined],
    ]);
  });

  test('names of all kinds', async () => {
    const files = {
      'a\nb': 'm',
      'c:1:d': 'm',
      ' ': 'm',
      '-': 'm',
      '"': 'm',
      '\\': 'm',
      '*': 'm',
      'c d/\u00e9': 'm',
    };
    expect(await places(files, 'm')).toEqual(
      Object.keys(files)
        .sort(bytewise)
        .map(name => `${name}:1`),
    );
  });

  test('ruling W4: finds what a plain search line by line finds', {tags: 'stress'}, async () => {
    const name = fc.constantFrom('a', 'b', 'c.md', 'd/e', 'd/f.md', 'd/g/h', '.i', 'a-');
    const line = fc.constantFrom('foo', 'FOO bar', 'x', '', 'foofoo', 'b foo\r', '\u00c9foo', 'ba');
    const content = fc
      .tuple(fc.array(line, {maxLength: 12}), fc.boolean())
      .map(([lines, end]) => lines.join('\n') + (end ? '\n' : ''));
    const query = fc.constantFrom('foo', 'o', '\u00e9f', 'x', 'nothing', 'foofoo', ' ');
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(name, content, {maxKeys: 6}),
        query,
        fc.integer({min: 1, max: 9}),
        fc.integer({min: 0, max: 3}),
        fc.option(fc.constantFrom('*.md', '!*.md', 'd/**')),
        async (files, text, maxResults, contextLines, glob) => {
          const expected = [];
          for (const file of Object.keys(files).sort(bytewise)) {
            if (glob !== null && !unwrap(compileGlob(glob, 'glob')).matchesPath(file)) continue;
            const lines = (files[file] ?? '')
              .replace(/\n$/, '')
              .split('\n')
              .map(one => one.replace(/\r$/, ''));
            if (files[file] === '') lines.length = 0;
            for (const [at, one] of lines.entries()) {
              if (!one.toLowerCase().includes(text.toLowerCase())) continue;
              expected.push({
                file,
                line: at + 1,
                content: one,
                context_before: lines.slice(Math.max(0, at - contextLines), at),
                context_after: lines.slice(at + 1, at + 1 + contextLines),
              });
            }
          }
          const workspace = await openTestWorkspace(files);
          const found = unwrap(
            await search(workspace, text, {maxResults, contextLines, ...(glob === null ? {} : {glob})}),
          );
          expect(found).toMatchObject({
            matches: expected.slice(0, maxResults),
            total: expected.length,
            complete: true,
          });
        },
      ),
      {numRuns: 40},
    );
  });
});
