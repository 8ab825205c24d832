import {expect, test} from 'vitest';
import {stateOf} from '../../../test/support/state-of.ts';
import type {Result} from '../../core/result.ts';
import type {WritablePath} from '../workspace-path.ts';
import {overlayPatch} from './overlay.ts';
import {parsePatch} from './parse-patch.ts';
import {renderFileChange} from './unified.ts';

const diff = (body: string, path = 'x'): string => `--- a/${path}\n+++ b/${path}\n${body}`;

/** Applies to files that are all `content`; what the planning does but for the disk. */
async function plan(patch: string, content: string): Promise<Result<unknown>> {
  const parsed = parsePatch(patch);
  if (!parsed.ok) return parsed;
  const tree = {
    resolve: (path: string) => ({ok: true as const, value: path as WritablePath}),
    read: async () => ({ok: true as const, value: stateOf(content, 0o644)}),
    blockingFile: () => undefined,
  };
  const overlaid = await overlayPatch(tree, parsed.value.sections);
  if (overlaid.ok) for (const change of overlaid.value.changes) renderFileChange(change);
  return overlaid;
}

async function milliseconds(patch: string, content: string): Promise<number> {
  // Of the processor, so that others on the machine do not count.
  const start = process.cpuUsage();
  await plan(patch, content);
  return process.cpuUsage(start).user / 1000;
}

/** Input of a size → patch and file. */
const SHAPES: Readonly<Record<string, (size: number) => readonly [string, string]>> = {
  'hunks where they say': n => [
    diff(Array.from({length: n}, (_, i) => `@@ -${3 * i + 1} +${3 * i + 1} @@\n-a${i}\n+b\n`).join('')),
    Array.from({length: n}, (_, i) => `a${i}\nx\ny\n`).join(''),
  ],
  'hunks elsewhere': n => [
    diff(Array.from({length: n}, (_, i) => `@@ -${i + 1} +${i + 1} @@\n-a${i}\n+b\n`).join('')),
    `${'x\n'.repeat(n)}${Array.from({length: n}, (_, i) => `a${i}\n`).join('')}`,
  ],
  'hunks that fit nowhere': n => [
    diff(Array.from({length: n}, (_, i) => `@@ -${i + 1},2 +${i + 1} @@\n-a\n-a\n+b\n`).join('')),
    'a\nb\n'.repeat(n),
  ],
  'hunks that are not there': n => [
    diff(Array.from({length: n}, (_, i) => `@@ -${i + 1} +${i + 1} @@\n-q${i}\n+b\n`).join('')),
    'a\nb\n'.repeat(n),
  ],
  'wrong counts': n => [
    diff(Array.from({length: n}, (_, i) => `@@ -${i + 1},900000 +${i + 1},900000 @@\n-a\n+b\n`).join('')),
    'a\n'.repeat(n),
  ],
  'headers without hunks': n => ['--- a/x\n+++ b/x\n'.repeat(n), 'a\n'],
  'half headers': n => [`--- a/x\n`.repeat(n), 'a\n'],
  'blank lines': n => [`${diff('@@ -1 +1 @@\n-a\n+b\n')}${'\n'.repeat(n)}@`, 'a\n'],
  'blank lines after each of many hunks': n => [
    diff(
      Array.from(
        {length: Math.sqrt(n)},
        (_, i) => `@@ -${i + 1} +${i + 1} @@\n-a\n+b\n${'\n'.repeat(Math.sqrt(n))}`,
      ).join(''),
    ),
    'a\n'.repeat(n),
  ],
  'files with deep paths': n => {
    const path = 'd/'.repeat(60);
    return [
      Array.from({length: n / 16}, (_, i) => `--- /dev/null\n+++ b/${path}${i}\n@@ -0,0 +1 @@\n+x\n`).join(
        '',
      ),
      'a\n',
    ];
  },
  'a git line of blanks': n => [`diff --git a/${' '.repeat(n)} b/${' '.repeat(n)}x\n`, 'a\n'],
  'a quoted name of escapes': n => [`--- "a/${'\\101'.repeat(n)}"\n+++ b/x\n`, 'a\n'],
  'one long line': n => [
    diff(`@@ -1 +1 @@\n-${'a'.repeat(50 * n)}\n+${'b'.repeat(50 * n)}\n`),
    `${'a'.repeat(50 * n)}\n`,
  ],
  'one long line that differs': n => [
    diff(`@@ -1 +1 @@\n-${' '.repeat(50 * n)}c\n+b\n`),
    `${' '.repeat(50 * n)}\n`,
  ],
};

test.each(Object.entries(SHAPES))(
  'policy: %s: four times the input takes about four times the time',
  {tags: 'stress'},
  async (_, shape) => {
    const size = 4096;
    await milliseconds(...shape(size));
    // The best of a few, as other work on the machine only ever makes it slower.
    const best = async (input: readonly [string, string]): Promise<number> => {
      const times: number[] = [];
      for (let round = 0; round < 2; round += 1) times.push(await milliseconds(...input));
      return Math.min(...times);
    };
    const once = await best(shape(size));
    const fourTimes = await best(shape(4 * size));
    // Quadratic would be sixteen times; below that it is noise.
    expect(fourTimes).toBeLessThan(Math.max(200, 9 * once));
  },
);

test('policy: 5 MB of patch with 100,000 hunks is applied', {tags: 'stress'}, async () => {
  const count = 100_000;
  const patch = diff(
    Array.from(
      {length: count},
      (_, i) => `@@ -${4 * i + 1},3 +${4 * i + 1},3 @@\n same ${i}\n-old ${i}\n+new ${i}\n same\n`,
    ).join(''),
  );
  expect(patch.length).toBeGreaterThan(5_000_000);
  const content = Array.from({length: count}, (_, i) => `same ${i}\nold ${i}\nsame\ngap\n`).join('');
  const start = performance.now();
  expect(await plan(patch, content)).toMatchObject({ok: true});
  expect(performance.now() - start).toBeLessThan(8000);
});

test('policy: a line of 10 MB is applied', {tags: 'stress'}, async () => {
  const line = 'x'.repeat(10_000_000);
  const result = await plan(diff(`@@ -1,2 +1,2 @@\n ${line}\n-a\n+b\n`), `${line}\na\n`);
  expect(result).toMatchObject({ok: true, value: {changes: [{new: {content: `${line}\nb\n`}}]}});
});
