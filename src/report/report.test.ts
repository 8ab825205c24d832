import {createHash} from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {request} from 'node:http';
import {join} from 'node:path';
import {Parser} from 'commonmark';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openTestRuntime, toolOf, writeNoteTool} from '../../test/support/open-test-runtime.ts';
import {showMarkup, textOfMarkup} from '../../test/support/show-markup.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import type {Json} from '../core/result.ts';
import type {Tool} from '../core/tool.ts';
import {createToolbox} from '../index.ts';
import {verifyLog} from '../runtime/event-log.ts';
import type {EventPayload, RunEvent} from '../runtime/run-event.ts';
import {Allowance, readArtifact} from './artifacts.ts';
import {serveRun} from './live.ts';
import {embedAsset, embedJson, escapeHtml, html, linkTarget, type Markup} from './markup.ts';
import {type NetChanges, netChanges} from './net-changes.ts';
import {renderLines} from './render-line.ts';
import {renderMarkdown} from './render-markdown.ts';
import {renderChangesLine} from './render-page.ts';
import {renderConnections} from './render-result.ts';
import {looksLikeDiff, renderDiff} from './render-values.ts';
import {type RecordedCall, RunHistory, refusalOf, stateOf, waitingsOf} from './run-history.ts';
import {RunReader} from './run-reader.ts';
import {findRun} from './runs.ts';
import {writeReport} from './write-report.ts';

function makeRun(): string {
  const run = temporaryDirectory();
  mkdirSync(join(run, 'logs'));
  writeFileSync(join(run, 'logs/a.txt'), 'content');
  return run;
}

const sha256 = createHash('sha256').update('content').digest('hex');

test('policy: what the log vouches for is told from what was changed or is missing', async () => {
  const run = makeRun();
  const read = (path: string, hash: string | undefined) => readArtifact(run, {path, sha256: hash});
  expect(await read('logs/a.txt', sha256)).toMatchObject({
    text: 'content',
    altered: false,
    problem: undefined,
  });
  expect(await read('logs/a.txt', undefined)).toMatchObject({text: 'content', altered: false});
  expect(await read('logs/a.txt', 'f'.repeat(64))).toMatchObject({text: 'content', altered: true});
  expect(await read('logs/b.txt', sha256)).toMatchObject({text: undefined, altered: true});
});

test.each([
  '../secret',
  '/etc/passwd',
  'logs/../../secret',
  'logs/.hidden',
  'secret',
  'logs//a.txt',
  'a\\b/c',
  'logs/a.txt\0',
])('policy: the path %j of a log is not read', async path => {
  const {text, problem} = await readArtifact(makeRun(), {path, sha256: undefined});
  expect({text, problem}).toEqual({text: undefined, problem: expect.stringContaining('not read')});
});

test('policy: no link leads out of the run, and no directory is a file', async () => {
  const run = makeRun();
  const outside = temporaryDirectory();
  writeFileSync(join(outside, 'a.txt'), 'secret');
  symlinkSync(outside, join(run, 'diffs'));
  symlinkSync(join(outside, 'a.txt'), join(run, 'logs/link.txt'));
  mkdirSync(join(run, 'logs/directory'));
  for (const path of ['diffs/a.txt', 'logs/link.txt', 'logs/directory']) {
    expect(await readArtifact(run, {path, sha256: undefined}), path).toMatchObject({text: undefined});
  }
});

async function servedRun() {
  const runtime = await openTestRuntime();
  await runtime.call('echo', {text: 'the first'});
  const served = await serveRun(runtime.directory, systemClock);
  if (!served.ok) throw new Error(served.error.message);
  onTestFinished(served.value.close);
  return {...runtime, ...served.value};
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

function get(url: string, options: {readonly host?: string; readonly method?: string} = {}): Promise<Reply> {
  const {host, method = 'GET'} = options;
  return new Promise((resolve, reject) => {
    const sent = request(url, {method, headers: host === undefined ? {} : {host}}, response => {
      let body = '';
      response.setEncoding('utf8').on('data', text => {
        body += text;
      });
      response.on('end', () => resolve({status: response.statusCode ?? 0, headers: response.headers, body}));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Reads the stream until `enough` says so, and gives its events. */
function events(url: string, enough: (text: string) => boolean, lastId = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}events`, {headers: {'last-event-id': lastId}}, response => {
      let text = '';
      response.setEncoding('utf8').on('data', part => {
        text += part;
        if (!enough(text)) return;
        resolve(text);
        sent.destroy();
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('report: the page is served with its policy, and shows nothing before its stream does', async () => {
  const {url} = await servedRun();
  const {status, headers, body} = await get(url);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; .*connect-src 'self'.*frame-ancestors 'none'$/,
    ),
    'x-content-type-options': 'nosniff',
  });
  expect(body).toContain('"live":true');
  expect(body).not.toContain('the first');
});

test('report: the stream has what was, then what comes, and goes on behind the last id', {
  tags: 'slow',
}, async () => {
  const {url, call} = await servedRun();
  const seen = events(url, text => text.includes('second'));
  await get(url);
  await call('echo', {text: 'second'});
  const text = await seen;
  expect(text.indexOf('the first')).toBeLessThan(text.indexOf('second'));
  const id = /id: (\d+)\ndata: [^\n]*second/.exec(text)?.[1] ?? '';
  expect(Number(id)).toBeGreaterThan(1);
  const rest = events(url, more => more.includes('third'), id);
  await call('echo', {text: 'third'});
  expect(await rest).not.toContain('the first');
});

test('policy: who has not the address, or comes by another name, learns nothing', async () => {
  const {url} = await servedRun();
  const {origin, pathname, port} = new URL(url);
  expect(pathname).toMatch(/^\/[0-9a-f]{48}\/$/);
  for (const path of [
    '/',
    '/events',
    `${pathname.slice(0, -2)}${pathname.at(-2) === '0' ? '1' : '0'}/`,
    `${pathname}other`,
    '/favicon.ico',
  ]) {
    expect(await get(`${origin}${path}`), path).toMatchObject({status: 404, body: 'Not found.\n'});
  }
  for (const host of ['evil.example', `localhost:${port}`, `evil.example:${port}`]) {
    expect(await get(url, {host})).toMatchObject({status: 404});
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    expect(await get(url, {method})).toMatchObject({status: 405});
  }
});

test('policy: a text in HTML ends nothing and begins nothing', () => {
  const text = escapeHtml(`<img src=x onerror="a"> & 'b'`);
  expect(html`<p title="${text}">`).toBe(
    '<p title="&lt;img src=x onerror=&quot;a&quot;&gt; &amp; &#39;b&#39;">',
  );
});

test('policy: data cannot end its element, open a comment, or take two lines', () => {
  const value = {a: '</script><!--<script>\u2028\n'};
  const line = embedJson(value);
  expect(line).not.toMatch(/[<\n\u2028]/);
  expect(JSON.parse(line)).toEqual({a: '</script><!--<script>⟨U+2028⟩\n'});
});

test('ruling D12 what would not be seen in a page is shown as a sign', () => {
  const parsed = JSON.parse(
    embedJson({a: ['\u001b[31mred\u001b[0m\u0000\u001b]0;x\u0007', '\u202eabc\u{e0041}\r\n']}),
  );
  expect(parsed.a).toEqual(['red␀␛]0;x␇', '⟨U+202E⟩abc⟨U+E0041⟩\n']);
});

test('policy: an asset that would end its element is a bug', () => {
  expect(embedAsset('a < b / c')).toBe('a < b / c');
  expect(() => embedAsset("'</script>'")).toThrow('Expected an asset');
});

test.each(['https://example.com/a?b=c#d', 'HTTP://Example.com'])('policy: %s may be followed', url => {
  expect(linkTarget(url)).toBe(new URL(url).href);
});

test.each([
  'javascript:alert(1)',
  ' https://example.com',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  '//example.com',
  '/relative',
  'https://user:secret@example.com',
  'https://example.com/?…',
  'https://',
  `https://example.com/${'a'.repeat(2000)}`,
])('policy: %s is a text', url => {
  expect(linkTarget(url)).toBeUndefined();
});

type Call = readonly [tool: string, params: {readonly [name: string]: Json}];

/** Calls in a workspace with these files, each of which has to succeed. */
async function changed(files: Readonly<Record<string, string | Uint8Array>>, calls: readonly Call[]) {
  const workspace = temporaryDirectory();
  const run = join(temporaryDirectory(), 'run');
  for (const [name, content] of Object.entries(files)) writeFileSync(join(workspace, name), content);
  const toolbox = createToolbox({
    workspace,
    runDirectory: run,
    config: {tools: {mode: 'enabled', approval: {mode: 'auto'}}},
  });
  onTestFinished(() => toolbox.close());
  for (const [tool, params] of calls) {
    expect(await toolbox.call({tool, params, request_id: 'x'}), tool).toMatchObject({error: null});
  }
  await toolbox.close();
  return {run, workspace, net: await netOf(run)};
}

async function netOf(run: string): Promise<NetChanges> {
  const reader = new RunReader(run);
  await reader.readOn();
  return netChanges(run, reader.history.calls.values());
}

const read = (path: string): Call => ['read_file', {path}];
const replace = (path: string, old_string: string, new_string: string): Call => [
  'str_replace',
  {path, old_string, new_string},
];

test('report: changes of several calls are one diff a file, from the first state to the last', async () => {
  const before = 'one\ntwo\nthree\n';
  const {net, workspace} = await changed({a: before}, [
    read('a'),
    replace('a', 'two', '2'),
    ['write_file', {path: 'new/b', content: 'b\n'}],
    replace('a', 'three', 'drei\nvier'),
    replace('new/b', 'b', 'bee'),
  ]);
  expect(net.more).toBe(0);
  expect(net.files.map(({path, kind, steps}) => [path, kind, steps])).toEqual([
    ['a', 'changed', [2, 4]],
    ['new/b', 'created', [3, 5]],
  ]);
  expect(net.files[0]?.diff).toMatchObject({added: 3, removed: 2});
  expect(net.files[0]?.diff?.text).toContain('@@ -1,3 +1,4 @@\n one\n-two\n-three\n+2\n+drei\n+vier\n');
  expect(net.files[1]?.diff?.text).toContain('+++ b/new/b\n@@ -0,0 +1 @@\n+bee\n');
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('one\n2\ndrei\nvier\n');
});

test('report: what was taken back, moved and deleted is what is left of it', async () => {
  const {net} = await changed({a: 'a\n', b: 'b', c: 'c\n'}, [
    read('a'),
    replace('a', 'a', 'x'),
    ['undo', {step: 2}],
    ['move_file', {from: 'b', to: 'd'}],
    ['read_file', {path: 'c'}],
    ['delete_file', {path: 'c'}],
  ]);
  expect(net.files.map(({path, kind, diff}) => [path, kind, diff?.added, diff?.removed])).toEqual([
    ['b', 'deleted', 0, 1],
    ['d', 'created', 1, 0],
    ['c', 'deleted', 0, 1],
  ]);
  expect(net.files[1]?.diff?.text).toContain('+b\n\\ No newline at end of file\n');
});

test('policy: where the run does not hold what it says, there is no diff, and the file is named', async () => {
  const {run, net} = await changed({a: 'a\n'}, [read('a'), replace('a', 'a', 'x')]);
  expect(net.files).toMatchObject([{path: 'a', diff: {added: 1}}]);
  const undo = join(run, 'diffs/step_0002.undo.patch');
  writeFileSync(undo, readFileSync(undo, 'utf8').replace('-x', '-lie'));
  expect((await netOf(run)).files).toMatchObject([{path: 'a', kind: 'changed', diff: undefined}]);
  rmSync(join(run, 'old'), {recursive: true});
  expect((await netOf(run)).files).toMatchObject([{path: 'a', diff: undefined}]);
  expect(renderChangesLine(await netOf(run))).toContain('does not hold both contents as text');
});

test('policy: a file that is no text is named, without a diff', async () => {
  const {net} = await changed({a: new Uint8Array([0xff, 0xfe, 0x41, 0x0a])}, [['delete_file', {path: 'a'}]]);
  expect(net.files).toMatchObject([{path: 'a', kind: 'deleted', diff: undefined}]);
});

const show = (text: string): string => showMarkup(renderMarkdown(text));

test.each(
  // biome-ignore format: a case is a line
  [
    ['# A\n\n### B ##\ntext', '<h4>A</h4><h6>B</h6><p>text</p>'],
    ['a *b* **c** ***d*** _e_ ~~f~~ g_h_i', '<p>a <em>b</em> <strong>c</strong> <em><strong>d</strong></em> <em>e</em> <del>f</del> g_h_i</p>'],
    ['a * b ** c\\*d\\*', '<p>a * b ** c*d*</p>'],
    ['`` a`b `` ` ` `c', '<p><code>a`b</code> <code> </code> `c</p>'],
    ['a  \nb\\\nc\nd', '<p>a<br></br>b<br></br>c\nd</p>'],
    ['- a\n- b\n  - c\n\n- d', '<ul><li><p>a</p></li><li><p>b</p><ul><li>c</li></ul></li><li><p>d</p></li></ul>'],
    ['3. a\n4. b\n\ntext', '<ol start=3><li>a</li><li>b</li></ol><p>text</p>'],
    ['> a\n> > b', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>'],
    ['```js\n<b>\n```\nx', '<pre title=js><code><b></code></pre><p>x</p>'],
    ['| a | b\\|c |\n| --- | :-: |\n| *1* | 2 |', '<div class=scroll><table><thead><tr><th>a</th><th>b|c</th></tr></thead><tbody><tr><td><em>1</em></td><td>2</td></tr></tbody></table></div>'],
    ['---', '<hr></hr>'],
    ['&lt;b&gt; &amp;amp; &#65; &copy;', '<p><b> &amp; A ©</p>'],
  ],
)('%j', (text, expected) => {
  expect(show(text)).toBe(expected);
});

describe('policy: nothing of a page is loaded or run', () => {
  test('a link shows where it goes', () => {
    expect(show('[a](https://e.com/b "t") <https://e.com>')).toBe(
      '<p><span><a href=https://e.com/b title=https://e.com/b>a</a> <span class=target>⟨https://e.com/b⟩</span></span> <span><a href=https://e.com/ title=https://e.com>https://e.com</a></span></p>',
    );
  });

  test('an image is a link', () => {
    expect(show('![a](https://e.com/a.png)')).toContain(
      '<a href=https://e.com/a.png title=https://e.com/a.png>Image: a</a>',
    );
  });

  test.each([
    '[a](javascript:alert(1))',
    '![a](data:image/svg+xml,x)',
    '[a](/relative)',
    '<javascript:alert(1)>',
  ])('%s is no link', text => {
    expect(show(text)).not.toContain('href');
    expect(show(text)).toContain(text.startsWith('<') ? 'javascript:' : '⟨');
  });

  test('HTML is a text', () => {
    const hostile = '<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>';
    const [first, second] = renderMarkdown(hostile);
    expect(first).toEqual(['p', {}, ['<script>alert(1)</script>']]);
    expect(textOfMarkup([second ?? ''])).toBe('<img src=x onerror=alert(1)>');
  });
});

function depthOf(markup: Markup): number {
  return typeof markup === 'string' ? 0 : 1 + Math.max(0, ...markup[2].map(depthOf));
}

test.each([
  ['quotes', `${'> '.repeat(100)}hidden`],
  ['items', `${'- '.repeat(100)}hidden`],
  ['emphasis', `${'*a '.repeat(100)}hidden${' a*'.repeat(100)}`],
])('policy: %s in each other end at a depth that a reader can show, and no text is lost', (_, text) => {
  expect(textOfMarkup(renderMarkdown(text))).toContain('hidden');
  expect(Math.max(...renderMarkdown(text).map(depthOf))).toBeLessThan(25);
});

/** What a reader reads of it, by the reference implementation. */
function reference(text: string): string {
  const walker = new Parser().parse(text).walker();
  let all = '';
  for (let step = walker.next(); step; step = walker.next()) {
    const {type, literal} = step.node;
    if (step.entering && literal !== null && type !== 'html_block') all += literal;
  }
  return all;
}

const ROOT = new URL('../../test/fixtures/pages/', import.meta.url);
const pages = readdirSync(ROOT, {recursive: true, encoding: 'utf8'}).filter(name => name.endsWith('.md'));

test('policy: the pages of the fixtures read as CommonMark has them', () => {
  expect(pages.length).toBeGreaterThan(3);
  const words = (text: string): string => text.replace(/⟨[^⟩]*⟩|Image: |~~/g, '').replace(/[\s|]+/g, '');
  for (const name of pages) {
    // What a golden says about its page stands before the Markdown.
    const text = readFileSync(new URL(name, ROOT), 'utf8').replace(/^<!-- .* -->\n/, '');
    // Tables and deletions are no part of CommonMark.
    // A number four spaces in is a text to CommonMark, and an item to us.
    const plain = text.replace(/^\s*\|.*\|$/gm, '').replace(/^ {4}\d+\. /gm, '    ');
    expect(words(textOfMarkup(renderMarkdown(plain))), name).toBe(words(reference(plain)));
  }
});

test.each([
  ['brackets', '['],
  ['links', '[a](b'],
  ['emphasis', '*a **b '],
  ['closers', 'a* b** '],
  ['backticks', '`a``b'],
  ['quotes', '> '],
  ['items', '- '],
  ['nested', '*'],
  ['fences', '```   '],
  ['cells', '| - '],
  ['images', '![a]('],
  ['entities', '&#'],
  ['spaces', ' ` '],
  ['breaks', '\n\n- \n'],
])('policy: %s without end take time that grows with the text', {tags: 'slow'}, (_, part) => {
  const time = (count: number): number => {
    const text = part.repeat(count);
    const start = process.cpuUsage();
    renderMarkdown(text);
    const {user, system} = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  time(1000);
  const best = (count: number): number => Math.min(time(count), time(count), time(count));
  // Quadratic time would be sixteen-fold; what is below that many milliseconds says nothing.
  expect(best(32_000)).toBeLessThan(Math.max(150, best(8000) * 10));
});

function callWith(hosts: readonly string[]): RecordedCall {
  const events = hosts.map(host => ({
    at: 0,
    event: 'egress_connection',
    payload: {host, port: 443, decision: 'refused', reason: 'why', address: '', bytes_up: 1, bytes_down: 2},
  }));
  return {events} as unknown as RecordedCall;
}

test('X1 the connections of a call are one table, a row each, and as many as fit a page', () => {
  expect(renderConnections(callWith([]), new Allowance(1000))).toEqual([]);
  const [part] = renderConnections(callWith(['<b>evil.test']), new Allowance(1000));
  expect(JSON.stringify(part)).toContain(
    '["tr",{},[["td",{},["refused"]],["td",{},["<b>evil.test:443"]],["td",{},[""]],["td",{},["1"]],["td",{},["2"]],["td",{},["0"]],["td",{},["why"]]]]',
  );
  const [long] = renderConnections(callWith(Array(500).fill('a.test')), new Allowance(1_000_000));
  expect(JSON.stringify(long).match(/"refused"/g)).toHaveLength(200);
  expect(JSON.stringify(long)).toContain('300 more are in the log.');
});

const DIFF = `--- a/x
+++ b/x
@@ -9,3 +9,3 @@ head
 same
--- was a comment
+++ is one
\\ No newline at end of file
diff --git a/y b/y
--- a/y
+++ b/y
@@ -1 +1 @@
-old
+new
`;

test('report: each line of a diff has its kind and its numbers', () => {
  const [, , lines] = renderDiff(DIFF);
  const kinds = lines.map(line =>
    typeof line === 'string' ? '' : `${line[1].class} ${textOfMarkup([line]).trim()}`,
  );
  expect(kinds).toEqual([
    'meta --- a/x',
    'meta +++ b/x',
    'hunk @@ -9,3 +9,3 @@ head',
    'same 9  9  same',
    'del 10    --- was a comment',
    'add 10 +++ is one',
    'meta \\ No newline at end of file',
    'meta diff --git a/y b/y',
    'meta --- a/y',
    'meta +++ b/y',
    'hunk @@ -1 +1 @@',
    'del 1    -old',
    'add 1 +new',
  ]);
});

test('report: what is no diff is not taken for one', () => {
  expect(looksLikeDiff(DIFF)).toBe(true);
  expect(looksLikeDiff('--- title\ntext')).toBe(false);
});

test('policy: a diff of many lines is no matter of the stack', {tags: 'slow'}, () => {
  expect(renderDiff('\n'.repeat(300_000))[2]).toHaveLength(300_000);
});

const START = Date.parse('2026-01-10T08:00:00.000Z');

/** Events, a second after each other. */
function historyOf(...events: readonly (readonly [string, EventPayload?])[]): RunHistory {
  const history = new RunHistory();
  for (const [index, [event, payload = {}]] of events.entries()) {
    const time = new Date(START + index * 1000).toISOString();
    history.add({seq: index + 1, time, event, payload} satisfies RunEvent);
  }
  return history;
}

function callOf(...events: readonly (readonly [string, EventPayload?])[]): RecordedCall {
  const all = events.map(([event, payload]) => [event, {step: 1, ...payload}] as const);
  const call = historyOf(['tool_call_started', {step: 1, tool: 'run'}], ...all).calls.get(1);
  if (call === undefined) throw new Error('There is no call.');
  return call;
}

const finished = (error_type: string | null): [string, EventPayload] => [
  'tool_call_finished',
  {status: error_type === null ? 'success' : 'error', error_type, duration_sec: 0.5, approval_wait_sec: 1},
];

describe('the state of a call', () => {
  test.each([
    [null, 'success'],
    ['file_not_found', 'failed'],
    ['timeout', 'failed'],
    ['ssrf_blocked', 'refused'],
    ['approval_denied', 'refused'],
    ['constructor', 'failed'],
  ])('report: %s is %s', (error, state) => {
    expect(stateOf(callOf(finished(error)))).toBe(state);
  });

  test('report: a call that has not ended is running until a later session begins', () => {
    const history = historyOf(['session_started'], ['tool_call_started', {step: 1, tool: 'run'}]);
    expect([...history.calls.values()].map(stateOf)).toEqual(['running']);
    history.takeChanged();
    history.add({seq: 3, time: '2026-01-10T09:00:00.000Z', event: 'session_resumed', payload: {steps: 1}});
    expect([...history.calls.values()].map(stateOf)).toEqual(['lost']);
    expect(history.takeChanged()).toEqual([1]);
  });
});

describe('the rule that refused a call', () => {
  test('report: a setting, an answer, a guard, or that there was no approver', () => {
    const decided = (by: string, reason: string): [string, EventPayload] => [
      'approval_decided',
      {decision: 'refused', by, reason, wait_sec: 0},
    ];
    const asked: [string, EventPayload] = ['approval_requested', {by: 'tools.approval.mode'}];
    expect(refusalOf(callOf(decided('tools.approval.rules[0]', 'No.'), finished('approval_denied')))).toEqual(
      {
        by: 'tools.approval.rules[0]',
        reason: 'No.',
      },
    );
    expect(refusalOf(callOf(asked, decided('refuse', 'Not now.'), finished('approval_denied')))).toEqual({
      by: 'answer "refuse", asked because of tools.approval.mode',
      reason: 'Not now.',
    });
    expect(refusalOf(callOf(asked, finished('approval_required')))?.by).toBe('tools.approval.mode');
    const guard = {message: 'Blocked.', details: {cidr: '10.0.0.0/8', toggle: 'block_private_ips'}};
    expect(refusalOf(callOf(['guard_blocked', guard], finished('ssrf_blocked')))).toEqual({
      by: 'setting block_private_ips, range 10.0.0.0/8',
      reason: 'Blocked.',
    });
    const outside = {message: 'No.', details: {reason: 'outside_workspace'}};
    expect(refusalOf(callOf(['guard_blocked', outside], finished('path_escape')))?.by).toBe(
      'outside workspace',
    );
    expect(refusalOf(callOf(finished(null)))).toBeUndefined();
  });
});

describe('the time a call waited', () => {
  test('report: it ends with the decision, whatever other approver was asked before', () => {
    const call = callOf(
      ['approval_requested', {by: 'x'}],
      ['approval_decided', {decision: 'allowed', by: 'once', wait_sec: 1.5}],
      finished(null),
    );
    expect(waitingsOf(call)).toEqual([[START + 500, START + 2000]]);
  });

  test('report: it is open while the approver is asked, and known where the call was cancelled', () => {
    expect(waitingsOf(callOf(['approval_requested', {by: 'x', approval_id: null}]))).toEqual([
      [START + 1000, undefined],
    ]);
    expect(waitingsOf(callOf(['approval_requested', {by: 'x', approval_id: 'a'}]))).toEqual([]);
    expect(waitingsOf(callOf(finished('cancelled')))).toEqual([[START, START + 1000]]);
  });
});

test('policy: a log whose fields are of other types is no matter', () => {
  const strange = [null, 7, 'x', [], {}].flatMap(value =>
    ['tool_call_started', 'approval_decided', 'guard_blocked', 'tool_call_finished'].map(
      event =>
        [
          event,
          {step: 1, tool: value, params: value, details: value, by: value, artifacts: value, wait_sec: value},
        ] as const,
    ),
  );
  const history = historyOf(['session_started', {step: 'one'}], ['x', {step: 0}], ...strange);
  expect([...history.calls.keys()]).toEqual([1]);
  for (const call of history.calls.values()) {
    expect(stateOf(call)).toBe('failed');
    expect(waitingsOf(call)).toEqual(expect.any(Array));
  }
});

test('report: a run is read on from where it was read, to the same end as from its beginning', async () => {
  const {call, directory} = await openTestRuntime();
  const reader = new RunReader(directory);
  for (let step = 1; step <= 3; step++) {
    await call('echo', {text: 'x'});
    const read = await reader.readOn();
    expect(read).toEqual(await verifyLog(join(directory, 'events.jsonl')));
    expect([...reader.history.calls.keys()]).toHaveLength(step);
    expect(reader.history.takeChanged()).toEqual([step]);
  }
});

test('report: a run is running while its process lives, then ended', async () => {
  const {runtime, directory, call} = await openTestRuntime();
  await call('echo', {text: 'x'});
  const reader = new RunReader(directory);
  await reader.readOn();
  expect(await reader.head([])).toMatchObject({state: 'running', verdict: {state: 'intact'}});
  await runtime.session.close();
  await reader.readOn();
  expect(await reader.head([])).toMatchObject({state: 'ended', verdict: {state: 'intact'}});
});

test('policy: half a line is being written while the run is in use, and torn when it is not', async () => {
  const {runtime, directory} = await openTestRuntime();
  const reader = new RunReader(directory);
  appendFileSync(join(directory, 'events.jsonl'), '{"seq":2');
  await reader.readOn();
  expect(await reader.head([])).toMatchObject({state: 'running', verdict: {state: 'intact'}});
  await runtime.session.directory.release();
  expect(await reader.head([])).toMatchObject({state: 'cut off', verdict: {state: 'torn'}});
});

test('policy: a log that became shorter or other while it was followed is tampered with', async () => {
  const {call, directory} = await openTestRuntime();
  const log = join(directory, 'events.jsonl');
  await call('echo', {text: 'x'});
  const [shorter, other] = [new RunReader(directory), new RunReader(directory)];
  await shorter.readOn();
  await other.readOn();
  const [, second = ''] = readFileSync(log, 'utf8').split('\n');
  appendFileSync(log, `${second}\n`);
  expect(await other.readOn()).toMatchObject({value: {state: 'tampered', events: 3}});
  truncateSync(log, 40);
  expect(await shorter.readOn()).toMatchObject({value: {state: 'tampered', problem: {line: 4}}});
  expect(await shorter.head([])).toMatchObject({
    verdict: {text: expect.stringContaining('TAMPERED: line 4')},
  });
});

function makeRuns() {
  const cwd = temporaryDirectory();
  const runsRoot = temporaryDirectory();
  const make = (directory: string, time: number): string => {
    mkdirSync(directory, {recursive: true});
    writeFileSync(join(directory, 'events.jsonl'), '');
    utimesSync(join(directory, 'events.jsonl'), time, time);
    return directory;
  };
  return {places: {cwd, runsRoot}, cwd, runsRoot, make};
}

test('report: a run is found by its path, its log, its name, or as the latest', async () => {
  const {places, cwd, runsRoot, make} = makeRuns();
  const here = make(join(cwd, 'runs/1'), 3);
  const old = make(join(runsRoot, 'old'), 2);
  const young = make(join(runsRoot, 'young'), 9);
  mkdirSync(join(runsRoot, 'zzz-no-run'));
  for (const [written, found] of [
    ['runs/1', here],
    ['runs/1/events.jsonl', here],
    [here, here],
    ['old', old],
    ['latest', young],
  ] as const) {
    expect(await findRun(written, places), written).toEqual({ok: true, value: found});
  }
});

test.each([
  ['missing', 'There is no run "missing": neither'],
  ['../missing', 'is not there'],
  ['empty', 'is no run: it has no events.jsonl'],
  ['latest', 'No run is in'],
  ['..', 'is no run'],
])('report: %s is refused with a reason', async (written, message) => {
  const {places, cwd} = makeRuns();
  mkdirSync(join(cwd, 'empty'));
  const found = await findRun(written, places);
  expect(found).toMatchObject({ok: false, error: {code: 'file_not_found'}});
  expect(found.ok ? '' : found.error.message).toContain(message);
});

async function recordedRun(tools?: readonly Tool[], tool = 'echo', params = {text: 'hello'}) {
  const runtime = await openTestRuntime(tools === undefined ? {} : {tools});
  await runtime.call(tool, params);
  return runtime;
}

/** The lines of data in a page, as its script reads them. */
function linesOf(page: string): readonly Record<string, unknown>[] {
  const blocks = [...page.matchAll(/<script class="data" type="application\/json">([^<]*)<\/script>/g)];
  return blocks.flatMap(([, text = '']) => text.split('\n')).map(line => JSON.parse(line));
}

test('report: a page is written beside the run, for its owner alone, in place of an older one', async () => {
  const {directory, runtime} = await recordedRun();
  await runtime.session.close();
  for (let times = 0; times < 2; times++) {
    const written = await writeReport(directory, undefined);
    expect(written).toMatchObject({
      ok: true,
      value: {
        path: join(directory, 'report.html'),
        calls: 1,
        refused: 0,
        failed: 0,
        log: 'intact',
        altered: 0,
        changed: 0,
      },
    });
  }
  expect(statSync(join(directory, 'report.html')).mode & 0o777).toBe(0o600);
  const [head, net, incident, call] = linesOf(readFileSync(join(directory, 'report.html'), 'utf8'));
  expect(head).toMatchObject({live: false, head: {state: 'ended', verdict: {state: 'intact'}, notes: []}});
  expect(net).toMatchObject({net: {files: 0}});
  expect(incident).toMatchObject({text: 'Session started'});
  expect(call).toMatchObject({step: 1, tool: 'echo', state: 'success', summary: 'hello'});
});

test('policy: the policy of the page has the hashes of its one style and its one script', async () => {
  const {directory} = await recordedRun();
  await writeReport(directory, undefined);
  const page = readFileSync(join(directory, 'report.html'), 'utf8');
  expect(page).toMatch(
    /http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; script-src &#39;sha256-[\w+/=]+&#39;; style-src &#39;sha256-[\w+/=]+&#39;; base-uri/,
  );
  expect(page).not.toMatch(/unsafe-|connect-src|https?:\/\/(?!\/)/);
  expect(page.match(/<script>/g)).toHaveLength(1);
});

test('policy: what was changed after it was written is said, in the page and in the answer', async () => {
  const {directory} = await recordedRun();
  writeFileSync(join(directory, 'calls/step_0001.json'), '{"params":{"text":"other"}}');
  expect(await writeReport(directory, undefined)).toMatchObject({
    ok: true,
    value: {altered: 1, log: 'intact'},
  });
  const [head, , , call] = linesOf(readFileSync(join(directory, 'report.html'), 'utf8'));
  expect(JSON.stringify(head)).toContain('1 files of the run are missing or were changed');
  expect(JSON.stringify(call)).toContain('changed after it was written');

  const log = join(directory, 'events.jsonl');
  writeFileSync(log, readFileSync(log, 'utf8').replace('"tool":"echo"', '"tool":"nope"'));
  expect(await writeReport(directory, undefined)).toMatchObject({
    ok: true,
    value: {log: 'tampered', calls: 0},
  });
});

test('policy: half a line of a crash is told, and what precedes it is shown', async () => {
  const {directory, runtime} = await recordedRun();
  await runtime.session.directory.release();
  appendFileSync(join(directory, 'events.jsonl'), '{"seq":5,"ti');
  expect(await writeReport(directory, undefined)).toMatchObject({ok: true, value: {log: 'torn', calls: 1}});
  const [head] = linesOf(readFileSync(join(directory, 'report.html'), 'utf8'));
  expect(head).toMatchObject({head: {state: 'cut off', verdict: {state: 'torn'}}});
});

test('policy: a page is bounded, and says what it leaves out', {tags: 'stress'}, async () => {
  const text = `${'*a* '.repeat(24_000)}\n`.repeat(2);
  const pages = toolOf('pages', async () => ({chunks: [{heading: 'a', text, token_count: 9}]}));
  const runtime = await openTestRuntime({tools: [pages], maxOutputBytes: 1_000_000});
  for (let step = 1; step <= 4; step++) await runtime.call('pages');
  const written = await writeReport(runtime.directory, undefined);
  expect(written.ok && written.value.bytes).toBeLessThan(4 * 400_000 + 100_000);
  const page = readFileSync(join(runtime.directory, 'report.html'), 'utf8');
  expect(page).toContain('4 calls are shown in part');
  expect(page).toContain('more characters are left out here');
});

test('report: what a call that was refused wanted to change is in the page', async () => {
  const directory = temporaryDirectory();
  const runtime = await recordedRun([writeNoteTool(directory)], 'write_note', {
    text: 'x',
    path: 'a',
  } as never);
  expect(await writeReport(runtime.directory, undefined)).toMatchObject({ok: true, value: {refused: 1}});
  const call = linesOf(readFileSync(join(runtime.directory, 'report.html'), 'utf8')).at(-1);
  expect(call).toMatchObject({state: 'refused', error: 'approval_required', by: 'tools.approval.mode'});
});

test('policy: a place that takes no file is refused before anything is read', async () => {
  const {directory} = await recordedRun();
  const place = temporaryDirectory();
  mkdirSync(join(place, 'd'));
  symlinkSync('/nonexistent', join(place, 'link'));
  for (const [path, reason] of [
    ['d', 'it is a directory'],
    ['link', 'it is no regular file'],
    ['no/file.html', 'there is no directory'],
  ] as const) {
    const written = await writeReport(directory, join(place, path));
    expect(written.ok ? '' : written.error.message).toContain(reason);
  }
});

test('policy: all calls together are bounded too, and a small one keeps its place among large ones', async () => {
  const {call, directory} = await openTestRuntime();
  const text = 'word '.repeat(4000);
  for (let step = 1; step <= 20; step++) await call('echo', {text: step % 5 === 0 ? 'small' : text});
  const reader = new RunReader(directory);
  await reader.readOn();
  const lines = await renderLines(reader, 100_000);
  const calls = lines.slice(1);
  expect(calls).toHaveLength(20);
  expect(lines.reduce((sum, {line}) => sum + line.length, 0)).toBeLessThan(100_000);
  expect(calls.map(({isCut}) => !isCut)).toEqual(calls.map((_, index) => (index + 1) % 5 === 0));
});
