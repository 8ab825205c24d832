import {readFile} from 'node:fs/promises';
import {parse} from 'smol-toml';
import {describe, expect, test} from 'vitest';
import {renderErrors} from '../scripts/render-errors.js';
import {configSchema} from '../src/config/config-schema.ts';
import {renderConfigReference} from '../src/config/render-reference.ts';
import {resolveConfig} from '../src/config/resolve/resolve-config.ts';
import {FAILURE_CODES} from '../src/core/failure/failure-codes.ts';
import {ok} from '../src/core/result.ts';
import type {Section} from '../src/core/setting.ts';

const STALE = 'is out of date: run `npm run docs` and commit the result';
const SURROUNDINGS = {env: {}, cwd: '/srv', tempDir: '/tmp'};

function page(name: string): Promise<string> {
  return readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8');
}

function keysOf(section: Section, prefix = ''): string[] {
  return Object.entries(section.entries).flatMap(([name, entry]) =>
    entry.kind === 'section' ? keysOf(entry, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}

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
        ok({...defaults.value, limitsOutput: true, writtenMode: 'disabled', writesApprovalMode: true}),
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
