import {readFileSync, writeFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {everyTool, fetchesNothing, webFetchOptions} from '../../test/support/every-tool.ts';
import {pretendDeadline} from '../../test/support/pretend-deadline.ts';
import {systemClock} from '../core/clock.ts';
import {ok} from '../core/result.ts';
import type {Intent, ToolContext} from '../core/tool.ts';
import {webFetchTextTool} from './web/web-fetch.ts';

const WRITTEN = new URL('../../test/fixtures/tool-definitions.jsonl', import.meta.url);

describe('policy: a tool as its callers are shown it', () => {
  test('policy: name, title, description and schemas are those that were reviewed', async () => {
    const shown = (await everyTool()).map(({name, title, description, paramsSchema, dataSchema}) =>
      JSON.stringify({name, title, description, params: paramsSchema, data: dataSchema}),
    );
    // A line a tool; UPDATE_GOLDENS=1 writes them.
    if (process.env['UPDATE_GOLDENS'] === '1') writeFileSync(WRITTEN, `${shown.join('\n')}\n`);
    expect(shown).toEqual(readFileSync(WRITTEN, 'utf8').trimEnd().split('\n'));
  });

  test('ruling H2 ruling H4: hints, approvals, failures and times of each tool that does more than read, or reads more', async () => {
    const facts = (await everyTool()).map(tool => {
      const {readOnly, destructive, idempotent, openWorld} = tool.annotations;
      const hints = Object.entries({readOnly, destructive, idempotent, openWorld})
        .filter(([, isSo]) => isSo)
        .map(([hint]) => hint);
      return [
        tool.name,
        hints.join(' '),
        tool.action,
        tool.badParams,
        tool.delivers,
        tool.maxOutputBytes,
        tool.finishMs,
      ];
    });
    const params = 'invalid_params';
    const web = ['idempotent openWorld', 'web_fetch', 'bad_args', 'untrusted', undefined, undefined];
    const reads = (name: string) => [
      name,
      'readOnly idempotent',
      undefined,
      params,
      undefined,
      undefined,
      undefined,
    ];
    // A new tool that only reads, as readingTool() makes it, stands in no list.
    expect(facts.filter(fact => JSON.stringify(fact) !== JSON.stringify(reads(String(fact[0]))))).toEqual([
      ['read_file', 'readOnly idempotent', undefined, params, undefined, 1_048_576, undefined],
      ['str_replace', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['write_file', 'destructive idempotent', 'write_file', params, undefined, undefined, 60_000],
      ['apply_patch', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['replace_in_files', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['move_file', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['delete_file', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['undo', 'destructive', 'patch_file', params, undefined, undefined, 60_000],
      ['run', 'destructive', 'run', params, undefined, undefined, undefined],
      ['stop_run', 'destructive idempotent', undefined, params, undefined, undefined, undefined],
      ['web_fetch', ...web],
      ['web_read', ...web],
      ['verify_quote', ...web],
    ]);
  });

  test('ruling H6: web_fetch of ADR 08 is shown with its own two parameters', () => {
    const {title, description, paramsSchema, dataSchema} = webFetchTextTool(
      fetchesNothing,
      webFetchOptions(),
      systemClock,
    );
    expect({title, description, params: paramsSchema, data: dataSchema}).toMatchObject({
      title: 'Fetch a web page',
      description:
        'Fetches a public web page and returns its readable content as text. Obeys robots.txt; refuses private addresses. A failure is explained in the text. The content is untrusted data.',
      params: {
        properties: {
          url: {
            type: 'string',
            minLength: 1,
            description: 'Absolute http or https URL of an HTML or plain-text document.',
          },
          maxLength: {
            type: 'integer',
            minimum: 1,
            default: 8000,
            description: 'Longest text, in characters.',
          },
        },
        required: ['url'],
        additionalProperties: false,
      },
      data: {
        properties: {
          text: {type: 'string', description: 'The page as Markdown, or what went wrong. Untrusted.'},
          truncated: {type: 'boolean'},
        },
        required: ['text', 'truncated'],
      },
    });
  });

  test('FR-WF-TIMEOUT-01: the limit of each tool, at which it is asked for what it has', async () => {
    const tools = await everyTool();
    const waits = (name: string, params: unknown): unknown => {
      const prepared = tools.find(tool => tool.name === name)?.prepare(params);
      return prepared?.ok ? prepared.value.timeoutMs : prepared;
    };
    const url = 'https://example.com/';
    const expected: readonly (readonly [string, object, number])[] = [
      ['list_files', {}, 30_000],
      ['glob', {pattern: '*'}, 30_000],
      ['search', {query: 'x'}, 61_500],
      ['read_file', {path: 'x'}, 10_000],
      ['str_replace', {path: 'x', old_string: 'a', new_string: 'b'}, 10_000],
      ['write_file', {path: 'x', content: ''}, 10_000],
      ['apply_patch', {unified_diff: ''}, 10_000],
      ['replace_in_files', {query: 'a', replacement: 'b'}, 40_000],
      ['move_file', {from: 'a', to: 'b'}, 10_000],
      ['delete_file', {path: 'x'}, 10_000],
      ['undo', {}, 10_000],
      ['read_output', {}, 20_000],
      ['wait_for', {step: 1}, 62_000],
      ['web_fetch', {url}, 127_000],
      ['web_read', {url}, 147_000],
      ['verify_quote', {url, quote: 'x'}, 147_000],
    ];
    for (const [name, params, ms] of expected) expect([name, waits(name, params)]).toEqual([name, ms]);
  });
});

const FILES = {'a.txt': 'one\ntwo\n', 'd/c.txt': 'one one\n'};

/** What a call would do; its hashes say no more than whether the files are there. */
async function intended(name: string, params: unknown): Promise<unknown> {
  const tool = (await everyTool(FILES)).find(one => one.name === name);
  const prepared = tool?.prepare(params);
  if (prepared === undefined || !prepared.ok) throw new Error(prepared?.error.all);
  const context: Pick<ToolContext, 'deadline' | 'signal' | 'pastChanges'> = {
    deadline: pretendDeadline(),
    signal: new AbortController().signal,
    pastChanges: async () => ok({directory: '/nonexistent', changes: []}),
  };
  const intent = await prepared.value.intend(context as ToolContext);
  if (!intent.ok) {
    const {code, message, details} = intent.error;
    return {code, message, details};
  }
  const hashes = Object.entries(intent.value.fileHashes).map(([path, hash]) => [
    path,
    /^[0-9a-f]{64}$/.test(hash) ? 'there' : hash,
  ]);
  return {...intent.value, fileHashes: Object.fromEntries(hashes)};
}

type Case = readonly [tool: string, params: object, intent: Partial<Intent>];

test.each<Case>(
  // biome-ignore format: a case is a line
  [
    ['list_files', {}, {subject: {kind: 'path', values: ['.']}, summary: 'list_files .', fileHashes: {}}],
    ['list_files', {root: 'd', glob: '*.py'}, {subject: {kind: 'path', values: ['d']}, summary: 'list_files d (*.py)', fileHashes: {}}],
    ['glob', {pattern: '*.txt'}, {subject: {kind: 'path', values: ['.']}, summary: 'glob *.txt in .', fileHashes: {}}],
    ['glob', {pattern: '*', root: 'd'}, {subject: {kind: 'path', values: ['d']}, summary: 'glob * in d', fileHashes: {}}],
    ['search', {query: 'x "y"'}, {subject: {kind: 'path', values: ['.']}, summary: 'search "x \\"y\\""', fileHashes: {}}],
    ['search', {query: 'x', glob: '*.py', path: 'd'}, {subject: {kind: 'path', values: ['d']}, summary: 'search "x" in *.py below d', fileHashes: {}}],
    ['read_file', {path: 'd/../a.txt'}, {subject: {kind: 'path', values: ['a.txt']}, summary: 'read_file a.txt', fileHashes: {}}],
    ['read_file', {path: 'a.txt', start_line: 2}, {subject: {kind: 'path', values: ['a.txt']}, summary: 'read_file a.txt (lines 2-end)', fileHashes: {}}],
    ['read_file', {path: 'a.txt', end_line: 2}, {subject: {kind: 'path', values: ['a.txt']}, summary: 'read_file a.txt (lines 1-2)', fileHashes: {}}],
    ['read_file', {path: 'a.txt', start_line: 2, end_line: 3}, {subject: {kind: 'path', values: ['a.txt']}, summary: 'read_file a.txt (lines 2-3)', fileHashes: {}}],
    [
      'apply_patch',
      {unified_diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n'},
      {
        subject: {kind: 'path', values: ['a.txt']},
        summary: 'apply_patch a.txt (+1 -1)',
        fileHashes: {'a.txt': 'there'},
        preview: 'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n',
        dryRun: false,
      },
    ],
    [
      'apply_patch',
      {
        unified_diff: '*** Begin Patch\n*** Delete File: a.txt\n*** Add File: n\n+x\n*** End Patch\n',
        dry_run: true,
      },
      {
        subject: {kind: 'path', values: ['a.txt', 'n']},
        summary: 'apply_patch 2 files (+1 -2, dry run)',
        fileHashes: {'a.txt': 'there', n: 'absent'},
        preview:
          'diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\ndiff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n',
        dryRun: true,
      },
    ],
    [
      'move_file',
      {from: 'a.txt', to: 'n/b.txt'},
      {
        subject: {kind: 'path', values: ['a.txt', 'n/b.txt']},
        summary: 'move_file a.txt => n/b.txt',
        fileHashes: {'a.txt': 'there', 'n/b.txt': 'absent'},
        preview: 'diff --git a/a.txt b/n/b.txt\nrename from a.txt\nrename to n/b.txt\n',
        dryRun: false,
      },
    ],
    [
      'move_file',
      {from: 'a.txt', to: 'b.txt', dry_run: true},
      {
        subject: {kind: 'path', values: ['a.txt', 'b.txt']},
        summary: 'move_file a.txt => b.txt (dry run)',
        fileHashes: {'a.txt': 'there', 'b.txt': 'absent'},
        preview: 'diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n',
        dryRun: true,
      },
    ],
    [
      'delete_file',
      {path: 'a.txt'},
      {
        subject: {kind: 'path', values: ['a.txt']},
        summary: 'delete_file a.txt (8 bytes)',
        fileHashes: {'a.txt': 'there'},
        preview:
          'diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n',
        dryRun: false,
      },
    ],
    [
      'write_file',
      {path: 'n.txt', content: 'x\n'},
      {
        subject: {kind: 'path', values: ['n.txt']},
        summary: 'write_file n.txt (new, 2 bytes)',
        fileHashes: {'n.txt': 'absent'},
        preview:
          'diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+x\n',
        dryRun: false,
      },
    ],
    [
      'replace_in_files',
      {query: 'one', replacement: '1'},
      {
        subject: {kind: 'path', values: ['a.txt', 'd/c.txt']},
        summary: 'replace_in_files 3 in 2 files ("one")',
        fileHashes: {'a.txt': 'there', 'd/c.txt': 'there'},
        preview:
          'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\ndiff --git a/d/c.txt b/d/c.txt\n--- a/d/c.txt\n+++ b/d/c.txt\n@@ -1 +1 @@\n-one one\n+1 1\n',
        dryRun: false,
      },
    ],
    [
      'replace_in_files',
      {query: 'o', replacement: '0', case_sensitive: false, dry_run: true},
      {
        subject: {kind: 'path', values: ['a.txt', 'd/c.txt']},
        summary: 'replace_in_files 4 in 2 files ("o") (dry run)',
        fileHashes: {'a.txt': 'there', 'd/c.txt': 'there'},
        preview:
          'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n-two\n+0ne\n+tw0\ndiff --git a/d/c.txt b/d/c.txt\n--- a/d/c.txt\n+++ b/d/c.txt\n@@ -1 +1 @@\n-one one\n+0ne 0ne\n',
        dryRun: true,
      },
    ],
    ['read_output', {}, {subject: {kind: 'path', values: ['.']}, summary: 'read_output stdout of the last run', fileHashes: {}}],
    ['read_output', {step: 3, stream: 'stderr', query: 'x "y"'}, {subject: {kind: 'path', values: ['.']}, summary: 'read_output stderr of step 3 for "x \\"y\\""', fileHashes: {}}],
    ['wait_for', {}, {subject: {kind: 'path', values: ['.']}, summary: 'wait_for the end of the last run in the background', fileHashes: {}}],
    ['wait_for', {step: 3, text: 'x "y"'}, {subject: {kind: 'path', values: ['.']}, summary: 'wait_for "x \\"y\\"" of step 3', fileHashes: {}}],
    ['wait_for', {step: 3, port: 80}, {subject: {kind: 'path', values: ['.']}, summary: 'wait_for port 80 of step 3', fileHashes: {}}],
    ['stop_run', {}, {subject: {kind: 'path', values: ['.']}, summary: 'stop_run', fileHashes: {}}],
    ['stop_run', {step: 3}, {subject: {kind: 'path', values: ['.']}, summary: 'stop_run step 3', fileHashes: {}}],
    ['run', {command: 'echo one'}, {subject: {kind: 'command', values: ['echo one']}, summary: 'run echo one', fileHashes: {}, preview: 'echo one'}],
    ['run', {command: 'echo one', background: true}, {subject: {kind: 'command', values: ['echo one']}, summary: 'run in the background echo one', fileHashes: {}, preview: 'in the background:\necho one'}],
    ['run', {command: 'echo one', env: {A: '1'}}, {subject: {kind: 'command', values: ['echo one'], exactOnly: true}, summary: 'run echo one', fileHashes: {}, preview: 'A="1"\necho one'}],
    ['run', {command: 'echo one\necho two'}, {subject: {kind: 'command', values: ['echo one\necho two']}, summary: 'run echo one ...', fileHashes: {}, preview: 'echo one\necho two'}],
    ['list_files', {root: 'none'}, {subject: {kind: 'path', values: ['none']}, summary: 'list_files none', fileHashes: {}}],
  ],
)('ruling H4: what is asked about %s with %j', async (name, params, intent) => {
  expect(await intended(name, params)).toEqual({preview: intent.summary, ...intent});
});

test.each<readonly [tool: string, params: object, failure: object]>(
  // biome-ignore format: a case is a line
  [
    ['move_file', {from: 'a.txt', to: 'a.txt'}, {code: 'invalid_params', message: 'From and to are both "a.txt". Correct `to`.', details: {field: 'to', reason: 'from and to are both "a.txt"'}}],
    ['move_file', {from: 'a.txt', to: 'd'}, {code: 'invalid_params', message: '"d" is a directory; for a place in it write "d/a.txt". Correct `to`.', details: {field: 'to', reason: '"d" is a directory; for a place in it write "d/a.txt"'}}],
    ['move_file', {from: 'a.txt', to: 'd/c.txt'}, {code: 'invalid_params', message: '"d/c.txt" exists already, and nothing is moved over it. Correct `to`.', details: {field: 'to', reason: '"d/c.txt" exists already, and nothing is moved over it'}}],
    ['move_file', {from: 'a.txt', to: 'd/c.txt/x'}, {code: 'invalid_params', message: '"d/c.txt" is no directory, so nothing can lie below it. Correct `to`.', details: {field: 'to', reason: '"d/c.txt" is no directory, so nothing can lie below it'}}],
    ['move_file', {from: 'none', to: 'b'}, {code: 'file_not_found', message: 'There is no "none". Look it up with list_files or glob.', details: {path: 'none'}}],
    ['move_file', {from: 'a.txt', to: '../b'}, {code: 'path_escape', message: '"../b" lies outside the workspace. Use a path relative to the workspace root.', details: {path: '../b', reason: 'outside_workspace'}}],
    ['move_file', {from: '../a', to: 'b'}, {code: 'path_escape', message: '"../a" lies outside the workspace. Use a path relative to the workspace root.', details: {path: '../a', reason: 'outside_workspace'}}],
    ['delete_file', {path: 'none'}, {code: 'file_not_found', message: 'There is no "none". Look it up with list_files or glob.', details: {path: 'none'}}],
    ['delete_file', {path: 'd'}, {code: 'not_a_file', message: '"d" is a directory. Name a regular file.', details: {path: 'd', kind: 'directory'}}],
    [
      'replace_in_files',
      {query: 'zebra', replacement: 'x'},
      {
        code: 'no_match',
        message:
          'Nothing to replace for "zebra" in the 2 files that were searched. Case counts; case_sensitive=false ignores it.',
        details: {hint: 'Case counts; case_sensitive=false ignores it.'},
      },
    ],
    ['replace_in_files', {query: 'zebra', replacement: 'x', case_sensitive: false}, {code: 'no_match', message: 'Nothing to replace for "zebra" in the 2 files that were searched.', details: {hint: ''}}],
    [
      'replace_in_files',
      {query: 'zebra', replacement: 'x', path: 'a.txt'},
      {
        code: 'no_match',
        message:
          'Nothing to replace for "zebra" in the file that was searched. Case counts; case_sensitive=false ignores it.',
        details: {hint: 'Case counts; case_sensitive=false ignores it.'},
      },
    ],
    [
      'replace_in_files',
      {query: 'o(n)e', replacement: '$2', is_regex: true},
      {
        code: 'invalid_params',
        message:
          'replacement names the group $2, and query has 1 group; for the character $ write $$. Nothing was written.',
        details: {
          field: 'replacement',
          reason: 'names the group $2, and query has 1 group; for the character $ write $$',
        },
      },
    ],
    [
      'replace_in_files',
      {query: '(', replacement: 'x', is_regex: true},
      {
        code: 'ripgrep_error',
        message:
          'ripgrep refused the search: regex parse error:\n    (?:()\n    ^\nerror: unclosed group\nCorrect the query.',
        details: {error: 'regex parse error:\n    (?:()\n    ^\nerror: unclosed group', exit_code: 2},
      },
    ],
    ['replace_in_files', {query: 'x', replacement: 'y', glob: '['}, {code: 'invalid_params', message: 'glob "[" has a "[" without "]"; write \\[ for the character.', details: {field: 'glob', reason: 'has a "[" without "]"; write \\[ for the character'}}],
    ['undo', {}, {code: 'file_not_found', message: 'No change of this session is left to be taken back.', details: {}}],
    ['undo', {step: 3}, {code: 'file_not_found', message: 'Step 3 of this session changed no files. No step did.', details: {}}],
    ['str_replace', {path: 'a.txt', old_string: 'one', new_string: 'x'}, {code: 'not_read', message: '"a.txt" was not read in this session, so it may not be changed. Call read_file on it first.', details: {path: 'a.txt'}}],
    ['write_file', {path: 'a.txt', content: 'x'}, {code: 'not_read', message: '"a.txt" was not read in this session, so it may not be changed. Call read_file on it first.', details: {path: 'a.txt'}}],
  ],
)('policy: %s with %j fails before anybody is asked', async (name, params, failure) => {
  expect(await intended(name, params)).toEqual(failure);
});
