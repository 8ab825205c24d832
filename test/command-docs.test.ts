import {readFile} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {listEveryTool} from '../scripts/list-every-tool.js';
import {renderEvents} from '../scripts/render-events.js';
import {renderTools} from '../scripts/render-tools.js';
import {configSchema} from '../src/config/config-schema.ts';
import {createToolbox} from '../src/index.ts';
import {RUNTIME_EVENTS} from '../src/runtime/events/run-event.ts';
import {runCliHere} from './support/run-cli-here.ts';

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

test('policy: docs/approvals.md names only settings that exist', async () => {
  const approval = Object.keys(configSchema.entries.tools.entries.approval.entries);
  const named = [...(await page('approvals.md')).matchAll(/tools\.approval\.(\w+)/g)].map(([, key]) => key);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter(key => !approval.includes(key ?? ''))).toEqual([]);
});

describe('docs/cli.md', async () => {
  const {stdout: overview} = await runCliHere(['--help']);
  const commands = [...overview.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name = '']) => name);

  test('policy: has a section for every command', async () => {
    expect(commands.length).toBeGreaterThan(9);
    const sections = [...(await page('cli.md')).matchAll(/^## ([a-z]+)$/gm)].map(([, name]) => name);
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
