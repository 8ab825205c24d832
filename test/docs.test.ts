import {existsSync, readdirSync, readFileSync, statSync} from 'node:fs';
import {readdir, readFile} from 'node:fs/promises';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parse} from 'smol-toml';
import {describe, expect, test} from 'vitest';
import {listEveryTool} from '../scripts/list-every-tool.js';
import {renderErrors} from '../scripts/render-errors.js';
import {renderEvents} from '../scripts/render-events.js';
import {renderTools} from '../scripts/render-tools.js';
import {configSchema} from '../src/config/config-schema.ts';
import {
  defaultRunDirectory,
  defaultSessionsDirectory,
  defaultStateDirectory,
} from '../src/config/environment.ts';
import {renderConfigReference} from '../src/config/render-reference.ts';
import {resolveConfig} from '../src/config/resolve-config.ts';
import {FAILURE_CODES} from '../src/core/failure-codes.ts';
import {ok} from '../src/core/result.ts';
import type {Section} from '../src/core/setting.ts';
import {createToolbox} from '../src/index.ts';
import {approvalForm} from '../src/mcp/approval.ts';
import {RUNTIME_EVENTS} from '../src/runtime/run-event.ts';
import {ruleOf} from './support/open-test-runtime.ts';
import {linksOf} from './support/read-commonmark.ts';
import {runCliHere} from './support/run-cli-here.ts';
import {temporaryDirectory} from './support/temporary-directory.ts';

const STALE = 'is out of date: run `npm run docs` and commit the result';

function page(name: string): Promise<string> {
  return readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8');
}

test('policy: docs/tools.md is what the definitions say', async () => {
  const tools = await listEveryTool(createToolbox);
  expect(await page('tools.md'), `docs/tools.md ${STALE}`).toBe(renderTools(tools));
});

test('policy: docs/events.md is what the table of events says', async () => {
  expect(await page('events.md'), `docs/events.md ${STALE}`).toBe(renderEvents(RUNTIME_EVENTS));
});

test('policy: docs/events.md has every event that the sources emit', async () => {
  const root = fileURLToPath(new URL('../src', import.meta.url));
  const files = (await readdir(root, {recursive: true})).filter(name => /(?<!\.test)\.ts$/.test(name));
  const sources = await Promise.all(files.map(name => readFile(join(root, name), 'utf8')));
  const emitted = sources.flatMap(text =>
    Array.from(text.matchAll(/(?:context|session)\.emit\('(\w+)'/g), ([, event]) => event),
  );
  expect(emitted.length).toBeGreaterThan(10);
  const table = await page('events.md');
  expect(emitted.filter(event => !table.includes(`\n| \`${event}\` |`))).toEqual([]);
});

test('policy: docs/approvals.md names only settings that exist', async () => {
  const approval = Object.keys(configSchema.entries.tools.entries.approval.entries);
  const named = [...(await page('approvals.md')).matchAll(/tools\.approval\.(\w+)/g)].map(([, key]) => key);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter(key => !approval.includes(key ?? ''))).toEqual([]);
});

test('H7: docs/taint.md names the mode that holds without a configuration file', async () => {
  const {tools} = createToolbox({workspace: temporaryDirectory()}).config;
  expect(await page('taint.md')).toContain(`Default: \`${tools.taint.mode}\` (profile \`guarded\`)`);
});

test('policy: docs/mcp.md names every choice of the approval form', async () => {
  const question = {
    requestId: '1',
    tool: 'run',
    action: 'run',
    summary: 'run make',
    preview: 'make',
    hash: '',
    by: 'x',
    reason: '',
    suggestedRule: ruleOf({tool: 'run', command_prefix: 'make'}),
    ruleProblem: () => undefined,
    canRemember: true,
  } as const;
  const {decision} = approvalForm(question, true).requestedSchema.properties;
  const choices = (decision as {readonly enum: readonly string[]}).enum;
  expect(choices).toHaveLength(6);
  const text = await page('mcp.md');
  expect(choices.filter(choice => !text.includes(`\`${choice}\``))).toEqual([]);
});

describe('docs/cli.md', async () => {
  const {stdout: overview} = await runCliHere(['--help']);
  const commands = [...overview.matchAll(/^ {2}([a-z-]+) {2}/gm)].map(([, name = '']) => name);

  test('policy: has a section for every command', async () => {
    expect(commands.length).toBeGreaterThan(9);
    const sections = [...(await page('cli.md')).matchAll(/^## ([a-z-]+)$/gm)].map(([, name]) => name);
    expect(sections.sort()).toEqual([...commands].sort());
  });

  test.each(commands)('policy: explains every flag of %s', async name => {
    const text = await page('cli.md');
    const {stdout: help} = await runCliHere([name, '--help']);
    const flags = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag = '']) => flag);
    const start = text.indexOf(`\n## ${name}\n`);
    const end = text.indexOf('\n## ', start + 4);
    const section = text.slice(start, end === -1 ? undefined : end);
    // Flags that many commands share are explained once.
    const shared = /as above|session flags/i.test(section) ? ['--config', '--log-level'] : [];
    const session = /session flags/i.test(section)
      ? ['--workspace', '--run-dir', '--allow', '--profile']
      : [];
    const explained = new Set([...section.matchAll(/--[a-z-]+/g)].map(([flag]) => flag));
    const missing = flags.filter(flag => !explained.has(flag) && ![...shared, ...session].includes(flag));
    expect(missing).toEqual([]);
  });

  test('policy: the exit codes of --help and of the page are the same', async () => {
    const codes = [...(await page('cli.md')).matchAll(/^\| (\d+) \|/gm)].map(([, code]) => code);
    expect(codes).toEqual([...(/Exit codes: (.*)\./.exec(overview)?.[1] ?? '').matchAll(/\d+/g)].map(String));
  });
});

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = [
  ...readdirSync(ROOT).filter(name => name.endsWith('.md')),
  ...['docs', 'bench', 'examples', 'test/mutation', 'test/fuzz', 'test/hostile'].flatMap(pagesBelow),
];

function pagesBelow(folder: string): readonly string[] {
  const place = join(ROOT, folder);
  if (!existsSync(place)) return [];
  return readdirSync(place, {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.md') && !name.includes('node_modules'))
    .map(name => join(folder, name));
}

/** The anchors that a reader of the page gets for its headings. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const headings = [...markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.*)$/gm)];
  return new Set(
    headings.map(([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

function problemOf(page: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link))
    return /^https:\/\/[^\s]+$/.test(link) ? undefined : `${page}: ${link} is no https link`;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), decodeURIComponent(path));
  if (relative(ROOT, target).startsWith('..')) return `${page}: ${link} leads out of the project`;
  if (!existsSync(target)) return `${page}: ${link} leads nowhere`;
  if (anchor === undefined || statSync(target).isDirectory()) return undefined;
  const isThere = anchorsOf(readFileSync(target, 'utf8')).has(anchor);
  return isThere ? undefined : `${page}: ${link} names no heading of that page`;
}

test('policy: every link of the documentation leads somewhere', () => {
  const links = PAGES.flatMap(page =>
    linksOf(readFileSync(join(ROOT, page), 'utf8')).map(link => ({page, link})),
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.map(({page, link}) => problemOf(page, link)).filter(problem => problem !== undefined)).toEqual(
    [],
  );
});

/** Pages about the code: other pages name them, or their folder. */
const isOfACheckout = (page: string): boolean =>
  page.startsWith('docs/decisions/') || page === 'docs/requirements.md';

test('policy: every page of docs/ can be reached from the README', () => {
  const reached = new Set<string>();
  const waiting = ['README.md'];
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    if (reached.has(page) || !page.endsWith('.md') || !existsSync(join(ROOT, page))) continue;
    reached.add(page);
    for (const link of linksOf(readFileSync(join(ROOT, page), 'utf8'))) {
      const [path = ''] = link.split('#');
      if (path !== '' && !/^[a-z]+:/.test(path)) waiting.push(join(dirname(page), path));
    }
  }
  const packed = PAGES.filter(page => page.startsWith('docs/') && !isOfACheckout(page));
  expect(packed.filter(page => !reached.has(page))).toEqual([]);
});

const SURROUNDINGS = {env: {}, cwd: '/srv', tempDir: '/tmp'};

function keysOf(section: Section, prefix = ''): string[] {
  return Object.entries(section.entries).flatMap(([name, entry]) =>
    entry.kind === 'section' ? keysOf(entry, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}

test('M1: docs/state.md names the places and the limits that the code has', async () => {
  const text = await page('state.md');
  const own = process.getuid === undefined ? '' : `-${process.getuid()}`;
  const user = {env: {}, cwd: '/', tempDir: '/tmp', homeDir: '/home/u'};
  const named = (path: string) =>
    `\`${path
      .replace('/home/u/.local/state/forge-tools', 'STATE')
      .replace('/tmp', 'TEMP')
      .replace(own, own && '-UID')}\``;
  for (const workspace of ['/work', user.homeDir]) {
    expect(text).toContain(named(defaultRunDirectory(user, workspace, 'NAME')));
    expect(text).toContain(named(defaultStateDirectory(user, workspace)));
    expect(text).toContain(named(defaultSessionsDirectory(user, workspace)));
  }
  const {keep_days, keep_mb} = configSchema.entries.runs.entries;
  expect(text).toContain(`\`runs.keep_days\` (${keep_days.default})`);
  expect(text).toContain(`\`runs.keep_mb\` (${keep_mb.default} MiB)`);
  const resolved = resolveConfig(undefined, {...user, env: {XDG_CACHE_HOME: '/c'}});
  if (!resolved.ok) throw new Error(String(resolved.error));
  const {cache_dir, cache_ttl_days} = resolved.value.config.tools.webfetch;
  expect(text).toContain(`by default \`${cache_dir.replace('/c', 'CACHE')}\``);
  expect(text).toContain(`\`cache_ttl_days\` (${cache_ttl_days})`);
});

describe('docs/config.md', () => {
  test('policy: is what the option tables say', async () => {
    expect(await page('config.md'), `docs/config.md ${STALE}`).toBe(renderConfigReference(configSchema));
  });

  test('policy: its example resolves to the defaults without a warning', async () => {
    const [, example = ''] = /```toml\n(.*?)```/s.exec(await page('config.md')) ?? [];
    const written = resolveConfig(parse(example, {integersAsBigInt: true}), SURROUNDINGS);
    const defaults = resolveConfig(undefined, SURROUNDINGS);
    // Ruling H3: what is written down is the same setting, and is known to be written.
    expect(written).toEqual(
      defaults.ok &&
        ok({...defaults.value, limitsOutput: true, writtenMode: 'enabled', writesApprovalMode: true}),
    );
    expect(written.ok && written.value.warnings).toEqual([]);
  });

  test('policy: its example spells every setting out, and every table row is a setting', async () => {
    const text = await page('config.md');
    const expected = keysOf(configSchema).sort();
    for (const pattern of [/^\| `(\w+)` \|/, /^(\w+) = /]) {
      let section = '';
      const found: string[] = [];
      for (const line of text.split('\n')) {
        // What stands before the first table.
        if (line === '```toml') section = '';
        section = /^(?:## `)?\[([\w.]+)\]`?$/.exec(line)?.[1] ?? section;
        const key = pattern.exec(line)?.[1];
        if (key !== undefined) found.push(section === '' ? key : `${section}.${key}`);
      }
      expect(found.sort()).toEqual(expected);
    }
  });

  test('policy: extensions are marked', () => {
    const rendered = renderConfigReference(configSchema);
    expect(rendered).toMatch(/\| `cache_redirects` \|.*\*Extension\.\*/);
    expect(rendered).toMatch(/## `\[tools\.webfetch\.extraction\]`\n\n\*Extension\.\*/);
    expect(rendered).not.toMatch(/\| `timeout_seconds` \|.*\*Extension\.\*/);
  });
});

test('policy: docs/findings.md has each finding once, on a line, with a test that is there', async () => {
  const at = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
  const rows = (await at('docs/findings.md')).split('\n').filter(line => /^\| [A-Z]\d/.test(line));
  const known = {G: 17, F: 27, V: 9, R: 18, B: 15};
  const ids = Object.entries(known).flatMap(([letter, count]) =>
    Array.from({length: count}, (_, index) => `${letter}${index + 1}`),
  );
  expect(rows.map(row => row.split(' ')[1])).toEqual(ids);
  const lost: string[] = [];
  for (const row of rows) {
    const [, file = '', title = ''] = /\| `([^`]+)`: `([^`]+)` \|$/.exec(row) ?? [];
    const source = await at(file).catch(() => '');
    if (title === '' || !source.includes(title)) lost.push(row);
  }
  expect(lost).toEqual([]);
});

describe('docs/errors.md', () => {
  test('policy: is what the failure table says', async () => {
    expect(await page('errors.md'), `docs/errors.md ${STALE}`).toBe(renderErrors(FAILURE_CODES));
  });

  test('policy: has exactly the codes of the table, each with its entry', async () => {
    const text = await page('errors.md');
    const codes = Object.keys(FAILURE_CODES);
    expect([...text.matchAll(/^## (\w+)$/gm)].map(([, code]) => code)).toEqual(codes);
    expect([...text.matchAll(/^\| \[`(\w+)`\]/gm)].map(([, code]) => code)).toEqual(codes);
  });

  test('policy: names only settings that exist', () => {
    const known = new Set(keysOf(configSchema));
    const named = Object.values(FAILURE_CODES).flatMap(({meaning, next}) =>
      [...`${meaning} ${next}`.matchAll(/\btools(?:\.\w+)+/g)].map(([key]) => key),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(key => !known.has(key))).toEqual([]);
  });
});
