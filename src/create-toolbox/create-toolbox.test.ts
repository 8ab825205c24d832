// The library is the tools: each has a method with the types of its schemas.

import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {expect, onTestFinished, test} from 'vitest';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import {startHttpServer} from '../../test/support/http-server.ts';
import {openTestWorkspace} from '../../test/support/open-test-workspace.ts';
import {codeOf} from '../../test/support/outcome.ts';
import {needs} from '../../test/support/parts.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {ConfigError} from '../config/config-error.ts';
import {readEnvironment, startedIn} from '../config/environment.ts';
import {resolveConfig} from '../config/resolve-config.ts';
import {systemClock} from '../core/clock.ts';
import {fail, ok} from '../core/result.ts';
import {assembleToolbox, createToolbox, type Toolbox, type ToolboxOptions} from '../create-toolbox.ts';
import {TOOL_METHODS} from '../tools/tool-methods.data.ts';
import {MOST_SITEMAP_BYTES, pageLinks, readSitemaps, type SitemapEntry} from './crawl.ts';
import {openEgress} from './open-egress.ts';
import {openPageReader, withRightsAt} from './open-page-reader.ts';
import {undoStep} from './services.ts';

const FROM = {url: 'https://www.example.com/', host: 'www.example.com', depth: 2};
const PAGE = `# Links
[a](https://www.example.com/a) and [b *bold*](https://www.example.com/b#part "Title"), <https://www.example.com/c>
![picture](https://www.example.com/p.png) [![badge](https://www.example.com/q.png)](https://www.example.com/d)
[other](https://blog.example.com/e) [far](https://example.org/f) [mail](mailto:me@example.com) [self](https://www.example.com/)
[again](https://www.example.com/a) [secret](https://me:pw@www.example.com/s) [esc](https://www.example.com/x\\_y)`;

test('S1 the links of a page within its host, each once, without fragments, pictures and credentials', async () => {
  const links = await pageLinks(PAGE, FROM, false);
  expect(links.map(({url}) => new URL(url).pathname)).toEqual(['/a', '/b', '/d', '/x_y', '/c']);
  expect(links.every(({depth, host}) => depth === 3 && host === 'www.example.com')).toBe(true);
});

test('red team G5: the host of a page is that of its address, whatever the engine calls it', async () => {
  const from = {url: 'https://www.example.com/', host: 'localhost', depth: 0};
  const links = await pageLinks('[in](https://localhost/x) [own](https://www.example.com/y)', from, false);
  expect(links).toEqual([{url: 'https://www.example.com/y', host: 'www.example.com', depth: 1}]);
});

test('S1 within its site, other hosts of the same registered domain are meant too', async () => {
  const hosts = new Set((await pageLinks(PAGE, FROM, true)).map(({host}) => host));
  expect([...hosts].sort()).toEqual(['blog.example.com', 'www.example.com']);
  const from = {url: 'https://a.github.io/', host: 'a.github.io', depth: 0};
  expect(await pageLinks('[x](https://b.github.io/)', from, true)).toEqual([]);
});

test('S1 a page of nothing but links gives a number of them', async () => {
  const page = Array.from({length: 5000}, (_, at) => `[x](https://www.example.com/${at})`).join('\n');
  expect(await pageLinks(page, FROM, false)).toHaveLength(2000);
  expect(await pageLinks(']('.repeat(100_000), FROM, false)).toEqual([]);
  expect(await pageLinks('<https:'.repeat(50_000), FROM, false)).toEqual([]);
});

async function read(asked: string, files: Readonly<Record<string, string | Uint8Array>>) {
  const fetched: string[] = [];
  const entries: SitemapEntry[] = [];
  const all = readSitemaps(asked, async url => {
    fetched.push(url);
    const file = files[url];
    if (file === undefined) return fail('http_4xx', 'The server answered 404.');
    return ok({url, bytes: Buffer.from(file)});
  });
  for await (const entry of all) entries.push(entry);
  return {fetched, urls: entries.flatMap(entry => ('url' in entry ? [entry.url] : [])), entries};
}

const set = (...urls: readonly string[]): string => urls.map(url => `<loc>${url}</loc>`).join('');
const index = (...urls: readonly string[]): string => `<sitemapindex>${set(...urls)}</sitemapindex>`;

test('S1 a robots.txt leads to an index, and that to gzipped sitemaps of the site', async () => {
  const {urls, fetched, entries} = await read('https://www.example.com/robots.txt', {
    'https://www.example.com/robots.txt':
      'Sitemap: https://www.example.com/i.xml\nSitemap: https://evil.example/x.xml',
    'https://www.example.com/i.xml': index(
      'https://cdn.example.com/1.xml.gz',
      'https://www.example.com/gone.xml',
    ),
    'https://cdn.example.com/1.xml.gz': gzipSync(
      set('https://www.example.com/a', 'https://evil.example/b', 'no'),
    ),
  });
  expect(urls).toEqual(['https://www.example.com/a']);
  expect(fetched).not.toContain('https://evil.example/x.xml');
  expect(entries.some(entry => 'failure' in entry && entry.file === 'https://www.example.com/gone.xml')).toBe(
    true,
  );
});

test('S1 indexes that name each other, or go ever deeper, end', async () => {
  const circle = await read('https://a.example/1', {
    'https://a.example/1': index('https://a.example/2'),
    'https://a.example/2': index('https://a.example/1', 'https://a.example/3'),
    'https://a.example/3': set('https://a.example/page'),
  });
  expect(circle.urls).toEqual(['https://a.example/page']);
  const files = Object.fromEntries(
    Array.from({length: 9}, (_, at) => [`https://a.example/${at}`, index(`https://a.example/${at + 1}`)]),
  );
  const deep = await read('https://a.example/0', files);
  expect(deep.fetched.length).toBe(4);
  expect(deep.entries.at(-1)).toHaveProperty('cut');
  const wide = Object.fromEntries([
    ['https://a.example/', index(...Array.from({length: 3000}, (_, at) => `https://a.example/${at}`))],
  ]);
  expect((await read('https://a.example/', wide)).fetched.length).toBe(1000);
});

test('S1 what unpacks to more than a sitemap may have is passed over', {tags: 'slow'}, async () => {
  const bomb = gzipSync(Buffer.alloc(MOST_SITEMAP_BYTES + 1, 0x20));
  expect(bomb.length).toBeLessThan(60_000);
  const {entries} = await read('https://a.example/', {'https://a.example/': bomb});
  expect(entries).toMatchObject([{cut: expect.stringContaining('larger')}]);
  const broken = await read('https://a.example/', {'https://a.example/': bomb.subarray(0, 500)});
  expect(broken.entries).toHaveLength(1);
});

const SECRET = 'pk_7Yb2Qw9Zt4Lm1Xc8';

/** What stops the start where a credential is in a file, and commands read `readable`. */
function problemsOf(file: string, workspace: string, readable: string): readonly string[] {
  return problemsWith({file}, workspace, {readable_paths: [readable]});
}

function problemsWith(source: object, workspace: string, settings: object): readonly string[] {
  const environment = {env: {}, cwd: '/', tempDir: '/tmp', homeDir: '/nonexistent'};
  const egress = {allow: ['a.test'], credentials: [{host: 'a.test', ...source}]};
  const resolved = resolveConfig({tools: {run: {egress, ...settings}}}, environment);
  if (!resolved.ok) throw new Error(resolved.error.join());
  const {run, webfetch: web} = resolved.value.config.tools;
  const opened = openEgress(run, {
    web,
    resolver: undefined,
    env: {REGISTRY_TOKEN: SECRET},
    workspace,
    certificateAuthorities: [],
    clock: systemClock,
  });
  return opened.ok ? [] : opened.error;
}

test('X1 a secret in a file that commands read stops the start, by a link too, and the message does not say it', () => {
  const [workspace, readable, elsewhere] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  const fileIn = (place: string): string => {
    const file = join(place, 'token');
    writeFileSync(file, `${SECRET}\n`);
    return file;
  };
  const shared = fileIn(readable);
  const link = join(elsewhere, 'link');
  symlinkSync(shared, link);
  expect(problemsOf(fileIn(elsewhere), workspace, readable)).toEqual([]);
  for (const file of [shared, link]) {
    expect(problemsOf(file, workspace, readable)).toEqual([
      `tools.run.egress.credentials[0].file is in ${readable}, which commands read. Move ${file} elsewhere.`,
    ]);
  }
  expect(problemsOf(fileIn(workspace), workspace, readable)).toEqual([
    expect.stringContaining('tools.run.egress.credentials[0].file is in the workspace'),
  ]);
});

test('red team G15: without a sandbox a credential stops the start, and the message does not say it', () => {
  const workspace = temporaryDirectory();
  const source = {env: 'REGISTRY_TOKEN'};
  expect(problemsWith(source, workspace, {sandbox: 'bubblewrap'})).toEqual([]);
  const problems = problemsWith(source, workspace, {sandbox: 'none', allow_insecure_none: true});
  expect(problems).toEqual([expect.stringContaining('tools.run.egress.credentials[0] needs a sandbox.')]);
  expect(problems.join()).not.toContain(SECRET);
});

const SURROUNDINGS = {env: {}, cwd: '/', tempDir: '/tmp', homeDir: '/tmp'};

function resolved(webfetch: object) {
  const config = resolveConfig(
    {
      tools: {
        mode: 'enabled',
        webfetch: {enabled: true, cache_dir: '', browser: {enabled: false}, ...webfetch},
      },
    },
    SURROUNDINGS,
  );
  if (!config.ok) throw new Error(config.error.join(' '));
  return config.value;
}

test("red team G5: what allow_private opens is open to a stranger's address only where the host is named", async () => {
  const server = await startHttpServer({
    '*': (_, response) => response.writeHead(200, {'Content-Type': 'text/plain'}).end('inside'),
  });
  onTestFinished(() => server.close());
  const settings = resolved({
    allow_private: [{host: 'localhost', cidr: '127.0.0.0/8', ports: [server.port]}],
    security: {allow_insecure_overrides: true},
  });
  const fetchWith = async (ownHosts?: readonly string[]): Promise<string> => {
    const environment = {...SURROUNDINGS, ownsProcess: false};
    const reader = openPageReader(settings, {
      environment,
      log: () => {},
      ...(ownHosts !== undefined && {ownHosts}),
    });
    try {
      const url = `http://localhost:${server.port}/`;
      return codeOf(await reader.read({url}, new AbortController().signal));
    } finally {
      await reader.close();
    }
  };
  expect(await fetchWith([])).toBe('port_blocked');
  expect(await fetchWith(['example.com'])).toBe('port_blocked');
  expect(await fetchWith(['LOCALHOST.'])).toBe('ok');
  expect(await fetchWith()).toBe('ok');
});

test('red team G5: a host that is named and has no rights is said', async () => {
  const settings = resolved({
    allow_private: [{host: 'localhost', cidr: '127.0.0.0/8', ports: [80]}],
    credentials: [{host: 'api.example.com', env: 'A'}],
    security: {allow_insecure_overrides: true},
  });
  const said: unknown[] = [];
  const reader = openPageReader(settings, {
    environment: {...SURROUNDINGS, env: {A: 'a-secret-of-sixteen'}, ownsProcess: false},
    log: ({message}) => said.push(message),
    ownHosts: ['localhost', 'api.example.com', 'Wikki.example.com'],
  });
  await reader.close();
  expect(said.filter(message => String(message).includes('opens nothing'))).toEqual([
    '"Wikki.example.com" has no table in tools.webfetch.allow_private and no credential, so naming it opens nothing.',
  ]);
});

test("red team G5: a credential goes to a stranger's address only where the host is named", () => {
  const {webfetch} = resolved({
    credentials: [
      {host: 'api.example.com:8443', env: 'A'},
      {host: '[2001:db8::1]', env: 'B'},
    ],
  }).config.tools;
  const hostsWith = (...hosts: readonly string[]) =>
    withRightsAt(hosts, webfetch).webfetch.credentials.map(({host}) => host);
  expect(hostsWith()).toEqual([]);
  expect(hostsWith('example.com', 'API.example.com')).toEqual(['api.example.com:8443']);
  expect(hostsWith('2001:db8::1')).toEqual(['[2001:db8::1]']);
  expect(() => hostsWith('*')).toThrow('Expected hosts');
});

test.each([
  ['/home/ann/project', ['/home/ann/project']],
  ['/srv/project', ['/srv/project']],
  ['/home/ann2', ['/home/ann2']],
  ['/home/ann', []],
  ['/home', []],
  ['/', []],
])('review R3: without a workspace, started in %s, programs below %j are not run', (cwd, untrustedTrees) => {
  expect(startedIn({cwd, homeDir: '/home/ann'})).toEqual(untrustedTrees);
});

test('ruling H7: a home that is named by a link is the home', () => {
  const real = realpathSync(temporaryDirectory());
  const link = join(temporaryDirectory(), 'home');
  symlinkSync(real, link);
  expect(startedIn({cwd: real, homeDir: link})).toEqual([]);
  expect(startedIn({cwd: join(real, 'project'), homeDir: link})).toEqual([join(real, 'project')]);
});

function open(options: ToolboxOptions = {}): {readonly workspace: string; readonly toolbox: Toolbox} {
  const workspace = temporaryDirectory();
  const env = {XDG_STATE_HOME: temporaryDirectory(), XDG_CACHE_HOME: temporaryDirectory()};
  const toolbox = createToolbox({
    workspace,
    environment: {...readEnvironment(), env},
    allow: ['patch_file'],
    ...options,
  });
  onTestFinished(() => toolbox.close());
  writeFileSync(join(workspace, 'a.txt'), 'one\ntwo\n');
  return {workspace, toolbox};
}

test('a method answers with the data of its tool, in its types', async () => {
  const {toolbox, workspace} = open();
  const read = await toolbox.readFile({path: 'a.txt', end_line: 1});
  if (!read.ok) throw new Error(read.error.message);
  const content: string = read.value.content;
  expect([content, read.value.total_lines]).toEqual(['one\n', 2]);
  const found = await toolbox.search({query: 'two'});
  expect(found).toMatchObject({ok: true, value: {matches: [{file: 'a.txt', line: 2}]}});
  await toolbox.readFile({path: 'a.txt'});
  const edited = await toolbox.strReplace({path: 'a.txt', old_string: 'two', new_string: '2'});
  expect(edited).toMatchObject({ok: true, value: {path: 'a.txt', added: 1}});
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\n2\n');
  expect(await toolbox.listFiles()).toMatchObject({ok: true, value: {files: ['a.txt']}});
});

test('what fails has the failure of webFetch: code, message, retryable, details', async () => {
  const {toolbox} = open();
  const missing = await toolbox.readFile({path: 'b.txt'});
  expect(missing.ok ? [] : Object.keys(missing.error)).toEqual(['code', 'message', 'retryable', 'details']);
  expect(missing).toMatchObject({ok: false, error: {code: 'file_not_found'}});
  const fetched = await toolbox.webFetch({url: 'ftp://a.example/'});
  expect(fetched.ok ? [] : Object.keys(fetched.error)).toEqual(['code', 'message', 'retryable', 'details']);
  expect(await toolbox.run({command: 'true'})).toMatchObject({ok: false, error: {code: 'approval_required'}});
});

test('call has the types of the tool that it names, and makes the id', async () => {
  const {toolbox} = open();
  const {data, request_id} = await toolbox.call({tool: 'read_file', params: {path: 'a.txt'}});
  const content: string | undefined = data?.content;
  expect(content).toBe('one\ntwo\n');
  expect(request_id).toMatch(/^call-/);
  // @ts-expect-error The parameter is `path`.
  await toolbox.call({tool: 'read_file', params: {pth: 'a.txt'}});
  // @ts-expect-error The parameter is `path`.
  await toolbox.readFile({pth: 'a.txt'});
  // A host hands on a name that is only known when it runs.
  const tool: string = JSON.parse('"read_file"');
  expect((await toolbox.call({tool, params: {path: 'a.txt'}})).status).toBe('success');
});

test('each tool has a method, also where there is no workspace', async () => {
  const {toolbox} = open();
  // No search engine is configured.
  const names = Object.values(TOOL_METHODS).filter(name => name !== 'web_search');
  expect(toolbox.listTools().map(({name}) => name)).toEqual(names);
  for (const method of Object.keys(TOOL_METHODS)) expect(toolbox).toHaveProperty(method);
  const {toolbox: bare} = open({workspace: undefined});
  expect(await bare.readFile({path: 'a.txt'})).toMatchObject({
    ok: false,
    error: {
      code: 'unknown_tool',
      message: 'read_file needs a workspace. Name its directory: createToolbox({workspace: "DIR"}).',
    },
  });
});

test('a workspace that does not exist is said to whoever made the toolbox', () => {
  expect(() => createToolbox({workspace: '/nope'})).toThrow(
    new ConfigError(['The workspace "/nope" does not exist. Create the directory, or name another one.']),
  );
});

async function tried(run: object) {
  const tempDir = temporaryDirectory();
  const env = {
    ...process.env,
    DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST'],
    TMPDIR: tempDir,
    REGISTRY_TOKEN: 'pk_7Yb2Qw9Zt4Lm1Xc8',
  };
  const workspace = join(tempDir, 'project');
  mkdirSync(workspace);
  const environment = {env, cwd: workspace, tempDir, homeDir: join(tempDir, 'home')};
  const docker = {image: process.env['FORGE_TEST_DOCKER_IMAGE'] ?? ''};
  const tools = {webfetch: {browser: {enabled: false}}, run: {docker, ...run}};
  const resolved = resolveConfig({profile: 'guarded', tools}, environment);
  if (!resolved.ok) throw new Error(resolved.error.join());
  const toolbox = assembleToolbox(resolved.value, {environment, workspace});
  onTestFinished(toolbox.close);
  const probes = await toolbox.probe(new AbortController().signal);
  return probes.filter(({name, state}) => name === 'Way out' || (name === 'Sandbox' && state === 'broken'));
}

const EGRESS = {allow: ['a.test', '*.b.test:8443'], presets: ['pypi']};
const HOSTS = 'hosts a.test, *.b.test:8443; preset pypi (pypi.org, files.pythonhosted.org)';

test.each(['bubblewrap', 'docker'])(
  'X1 doctor says which hosts commands reach, and tries it in %s',
  {
    ...needs('bubblewrap', 'Docker'),
    tags: 'slow',
  },
  async sandbox => {
    const credentials = [{host: 'a.test', env: 'REGISTRY_TOKEN'}];
    expect(await tried({sandbox, egress: {...EGRESS, credentials}})).toMatchObject([
      {state: 'ok', detail: `${HOSTS}; Authorization for a.test; works`},
    ]);
  },
);

test('X1 doctor says nothing of a way out that is not there', needs('bubblewrap'), async () => {
  expect(await tried({})).toEqual([]);
  expect(await tried({egress: EGRESS, enabled: false})).toEqual([]);
  expect(await tried({egress: EGRESS, sandbox: 'none', allow_insecure_none: true})).toMatchObject([
    {state: 'unused', detail: `${HOSTS}; commands have the network of the host`},
  ]);
});

const EDIT = {path: 'f.txt', old_string: 'one', new_string: '1'};

/** A run whose call of `str_replace` as step 2 is cancelled between its record and its commit. */
async function withCancelledStep() {
  const workspace = await openTestWorkspace({'f.txt': 'one\n'});
  const controller = new AbortController();
  const onStep = (step: string): void => {
    if (step.startsWith('staged')) controller.abort();
  };
  const session = {...workspace.session, journal: {...workspace.session.journal, onStep}};
  const place = await callWorkspaceTools({}, {workspace: {...workspace, session}});
  await place.data('read_file', {path: 'f.txt'});
  const {error} = await place.call('str_replace', EDIT, {signal: controller.signal});
  expect(error?.error_type).toBe('cancelled');
  const home = temporaryDirectory();
  const environment = {env: {HOME: home}, cwd: home, homeDir: home, tempDir: home};
  const undo = (step: number) =>
    undoStep({runDirectory: place.runDirectory, workspace: place.root, step}, environment);
  return {...place, undo, content: () => readFileSync(join(place.root, 'f.txt'), 'utf8')};
}

test('W7: a step that failed is not undone, although a later one left what it would have', async () => {
  const place = await withCancelledStep();
  await place.data('str_replace', EDIT);
  const refused = await place.undo(2);
  expect(codeOf(refused)).toBe('file_not_found');
  expect(refused.ok || refused.error.message).toContain('Step 2 of this run failed and changed no files');
  expect(place.content()).toBe('1\n');
  expect(codeOf(await place.undo(3))).toBe('ok');
  expect(place.content()).toBe('one\n');
});

test('W7: a step whose end the log does not have, because the process was killed, is undone', async () => {
  const place = await withCancelledStep();
  await place.data('str_replace', EDIT);
  const log = join(place.runDirectory, 'events.jsonl');
  const lines = readFileSync(log, 'utf8').split(/(?<=\n)/);
  const end = lines.findIndex(line => line.includes('PATCH_APPLIED'));
  writeFileSync(log, lines.slice(0, end).join(''));
  expect(codeOf(await place.undo(3))).toBe('ok');
  expect(place.content()).toBe('one\n');
});

test('W7: wherever a kill cut the log off after the change, in a line or between lines, the step is undone', {
  tags: 'stress',
}, async () => {
  const place = await withCancelledStep();
  await place.data('str_replace', EDIT);
  const log = join(place.runDirectory, 'events.jsonl');
  const whole = readFileSync(log);
  const start = whole.lastIndexOf('"tool_call_started"');
  const lineStart = whole.lastIndexOf('\n', start) + 1;
  const cuts = [...whole.keys()].filter(at => at >= lineStart && (at % 97 === 0 || whole[at - 1] === 0x0a));
  expect(cuts.length).toBeGreaterThan(10);
  for (const cut of [...cuts, whole.length]) {
    writeFileSync(log, whole.subarray(0, cut));
    writeFileSync(join(place.root, 'f.txt'), '1\n');
    expect([cut, codeOf(await place.undo(3))]).toEqual([cut, 'ok']);
    expect(place.content()).toBe('one\n');
  }
});

/** A step whose process was killed: its record is there, and the log has nothing of its end. */
function killedStep(runDirectory: string, step: number, before: string, after: string): void {
  const state = (text: string) => ({sha256: sha256(text), mode: 0o644, owner: null});
  const files = [{path: 'f.txt', before: state(before), after: state(after)}];
  const name = `step_${String(step).padStart(4, '0')}.undo.json`;
  for (const directory of ['diffs', 'old']) mkdirSync(join(runDirectory, directory), {recursive: true});
  writeFileSync(join(runDirectory, 'diffs', name), JSON.stringify({version: 2, files}));
  writeFileSync(join(runDirectory, 'old', sha256(before)), before);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test('W7: a step whose process was killed before its change is not undone when a later step made the same change', async () => {
  const place = await withCancelledStep();
  // The cancelled step 2 stands for one that has a record and no end.
  killedStep(place.runDirectory, 1, 'one\n', '1\n');
  await place.data('str_replace', EDIT);
  const refused = await place.undo(1);
  expect(codeOf(refused)).toBe('stale_read');
  expect(refused.ok || refused.error.message).toContain('Undo step 3 instead');
  expect(place.content()).toBe('1\n');
  expect(codeOf(await place.undo(3))).toBe('ok');
  expect(place.content()).toBe('one\n');
});

test('W7: a step whose process was killed behind its change is undone after the steps that built on it', async () => {
  const place = await withCancelledStep();
  killedStep(place.runDirectory, 1, 'zero\n', 'one\n');
  await place.data('str_replace', EDIT);
  expect(codeOf(await place.undo(1))).toBe('stale_read');
  expect(codeOf(await place.undo(3))).toBe('ok');
  expect(codeOf(await place.undo(1))).toBe('ok');
  expect(place.content()).toBe('zero\n');
});
