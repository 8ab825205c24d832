import type {Json} from '../../../src/core/result.ts';
import {undoStep} from '../../../src/create-toolbox/services.ts';
import type {Toolbox} from '../../../src/index.ts';
import type {FaultPlace, Tree} from './faults-place.ts';

export interface Answer {
  /** `ok`, or the code of a failure. */
  readonly code: string;
  /** What a success says, without times. */
  readonly data?: string;
}

/** One call, what comes before it, and what it does to the workspace. */
export interface FaultFlow {
  readonly files: Tree;
  /** Without faults. */
  readonly prepare: (place: FaultPlace) => Promise<unknown>;
  readonly act: (place: FaultPlace) => Promise<Answer>;
  /** The workspace after `prepare`, and after a success; `files` where they are left out. */
  readonly before?: Tree;
  readonly after?: Tree;
  /** What `act` answers when nothing fails. */
  readonly answer?: string;
}

const FILES: Tree = {
  '.gitignore': 'ignored/\n',
  'a.txt': 'one\ntwo\nthree\n',
  'src/b.txt': 'alpha\nbeta\n',
  'src/deep/c.txt': 'needle in hay\n',
};

const PATCH = `--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
--- a/src/b.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-alpha
-beta
--- /dev/null
+++ b/new/dir/d.txt
@@ -0,0 +1 @@
+fresh
`;

/** From the next one on, GNU patch is asked through a shell that is kept. */
const FIRST_PATCH = '--- /dev/null\n+++ b/first.txt\n@@ -0,0 +1 @@\n+x\n';

const {'src/b.txt': _, ...kept} = FILES;
const PATCHED: Tree = {...kept, 'a.txt': 'one\n2\nthree\n', 'new/dir/d.txt': 'fresh\n'};

let requests = 0;

/** A call through the whole runtime. */
export async function answerOf(
  toolbox: Toolbox,
  tool: string,
  params: {readonly [name: string]: Json},
): Promise<Answer> {
  requests += 1;
  const {error, data} = await toolbox.call({tool, params, request_id: `r${requests}`});
  return error === null ? {code: 'ok', data: withoutTimes(data)} : {code: error.error_type};
}

function withoutTimes(data: Json): string {
  return JSON.stringify(data, (key, value) => (/^(?:duration_sec|fetched_at|notes)$/.test(key) ? 0 : value));
}

/** The session is open, and what the first call loads is loaded. */
const openSession = ({toolbox}: FaultPlace) => answerOf(toolbox, 'list_files', {});
const readFirst = ({toolbox}: FaultPlace) => answerOf(toolbox, 'read_file', {path: 'a.txt'});

function calls(
  tool: string,
  params: {readonly [name: string]: Json},
  more: Partial<FaultFlow> = {},
): FaultFlow {
  return {files: FILES, prepare: openSession, act: ({toolbox}) => answerOf(toolbox, tool, params), ...more};
}

function fetches(path: string, more: Partial<FaultFlow> = {}): FaultFlow {
  const act = ({toolbox, origin}: FaultPlace) => answerOf(toolbox, 'web_fetch', {url: `${origin}${path}`});
  return {files: {}, prepare: openSession, act, ...more};
}

const COMMAND = {command: 'echo out; echo err >&2; exit 3'};
const cachedPage = fetches('/page');

/** The main flows: in each, every operation of `act` is made to fail in turn. */
export const FAULT_FLOWS: Readonly<Record<string, FaultFlow>> = {
  'the first call': calls('list_files', {}, {prepare: async () => {}}),
  'the end of a session': calls(
    '',
    {},
    {
      act: async ({toolbox}) => {
        await toolbox.close();
        return {code: 'ok'};
      },
    },
  ),
  read_file: calls('read_file', {path: 'a.txt'}),
  list_files: calls('list_files', {}),
  'list_files with respect_gitignore': calls('list_files', {respect_gitignore: true}),
  glob: calls('glob', {pattern: '**/*.txt'}),
  search: calls('search', {query: 'needle'}),
  'write_file of a new file': calls(
    'write_file',
    {path: 'x/y/new.txt', content: 'new\n'},
    {after: {...FILES, 'x/y/new.txt': 'new\n'}},
  ),
  'write_file over a file': calls(
    'write_file',
    {path: 'a.txt', content: 'new\n'},
    {prepare: readFirst, after: {...FILES, 'a.txt': 'new\n'}},
  ),
  str_replace: calls(
    'str_replace',
    {path: 'a.txt', old_string: 'two', new_string: '2'},
    {prepare: readFirst, after: {...FILES, 'a.txt': 'one\n2\nthree\n'}},
  ),
  'str_replace with several edits': calls(
    'str_replace',
    {
      path: 'a.txt',
      edits: [
        {old_string: 'two', new_string: '2'},
        {old_string: 'e\n', new_string: 'E\n', replace_all: true},
      ],
    },
    {prepare: readFirst, after: {...FILES, 'a.txt': 'onE\n2\nthreE\n'}},
  ),
  replace_in_files: calls(
    'replace_in_files',
    {query: 'e', replacement: 'E', glob: '*.txt'},
    {
      after: {
        ...FILES,
        'a.txt': 'onE\ntwo\nthrEE\n',
        'src/b.txt': 'alpha\nbEta\n',
        'src/deep/c.txt': 'nEEdlE in hay\n',
      },
    },
  ),
  move_file: calls(
    'move_file',
    {from: 'src/b.txt', to: 'new/dir/b.txt'},
    {after: {...kept, 'new/dir/b.txt': 'alpha\nbeta\n'}},
  ),
  delete_file: calls('delete_file', {path: 'src/b.txt'}, {after: kept}),
  'apply_patch to three files': calls('apply_patch', {unified_diff: PATCH}, {after: PATCHED}),
  'apply_patch to three files, the second of its session': {
    files: FILES,
    before: {...FILES, 'first.txt': 'x\n'},
    after: {...PATCHED, 'first.txt': 'x\n'},
    prepare: ({toolbox}) => answerOf(toolbox, 'apply_patch', {unified_diff: FIRST_PATCH}),
    act: ({toolbox}) => answerOf(toolbox, 'apply_patch', {unified_diff: PATCH}),
  },
  undo: {
    files: FILES,
    before: PATCHED,
    after: FILES,
    prepare: ({toolbox}) => answerOf(toolbox, 'apply_patch', {unified_diff: PATCH}),
    act: async ({runDirectory, workspace, environment}) => {
      const undone = await undoStep({runDirectory, workspace, step: 1}, environment);
      return {code: undone.ok ? 'ok' : undone.error.code};
    },
  },
  web_fetch: cachedPage,
  'web_fetch from the cache': fetches('/page', {prepare: cachedPage.act}),
  'web_fetch over a redirect': fetches('/redirect'),
  'web_fetch of a compressed page': fetches('/gzip'),
  'web_fetch of a page for a thread': fetches('/large'),
  'web_fetch against robots.txt': fetches('/private/page', {answer: 'robots_disallowed'}),
  run: calls('run', COMMAND),
};
