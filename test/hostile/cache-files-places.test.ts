import {execFile} from 'node:child_process';
import {chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {beforeAll, describe, expect, test} from 'vitest';
import {cacheKey} from '../../src/web/cache/cache-key.ts';
import {printEntry} from '../../src/web/cache/entry.ts';
import {entryPath} from '../../src/web/cache/entry-path.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const run = promisify(execFile);
const script = (name: string): string => join(import.meta.dirname, 'support', name);

interface Fetched {
  readonly place: string;
  readonly page: number;
  readonly code: string;
  readonly right: boolean;
  readonly notes: readonly string[];
}

/** Mounts of its own and other users need root; CI is. */
const asRoot = describe.skipIf(process.getuid?.() !== 0);

asRoot('FR-WF-16h a fetch never fails for a disk that is full or read-only', () => {
  test('FR-WF-16h ruling F4 no space, no inodes, read-only: every page, whole and right', async () => {
    const directory = temporaryDirectory();
    const {stdout} = await run('unshare', [
      '--mount',
      process.execPath,
      script('cache-files-places.js'),
      directory,
    ]);
    const lines = stdout
      .trim()
      .split('\n')
      .map(
        line =>
          JSON.parse(line) as Fetched & {
            readonly warnings?: readonly string[];
            readonly left?: readonly string[];
          },
      );
    const fetched = lines.filter(({page}) => page !== undefined);
    expect(fetched.filter(({code, right}) => code !== 'ok' || !right)).toEqual([]);
    expect(fetched.length).toBe(12 + 2 + 12 + 12 + 12 + 3 + 6 + 1);
    const notes = (place: string): readonly string[] =>
      lines.filter(line => line.place === place && line.page !== undefined).map(line => line.notes.join(','));
    const warnings = (place: string): readonly string[] =>
      lines.find(line => line.place === place && line.warnings !== undefined)?.warnings ?? [];
    // Positive controls: the disk was full indeed, and had taken something before.
    expect(new Set(notes('full'))).toEqual(new Set(['', 'cache_write_failed']));
    expect(notes('full, hits')).toEqual(['cache_hit', 'cache_hit']);
    expect(warnings('full, hits')).toEqual(['cache_touch_failed: ENOSPC']);
    expect(lines.find(({left}) => left !== undefined)?.left).toEqual([]);
    expect(notes('grown')).not.toContain('cache_write_failed');
    expect(new Set(notes('grown, again'))).toEqual(new Set(['cache_hit']));
    expect(notes('no inodes')).toContain('cache_write_failed');
    expect(notes('read-only')).toEqual([
      ...new Array(3).fill('cache_hit'),
      ...new Array(3).fill('cache_write_failed'),
    ]);
    expect(notes('read-only, to be created')).toEqual(['']);
    expect(warnings('read-only, to be created')).toEqual([expect.stringContaining('cannot be created (')]);
  }, 60_000);
});

asRoot('ruling F5 directories that somebody else prepared', () => {
  const URL = 'https://example.com/page';
  interface Answer {
    readonly before: string | null;
    readonly written: boolean;
    readonly after: string | null;
    readonly logs: readonly string[];
  }
  let answers: Readonly<Record<string, Answer>>;

  /** Plants an entry that is right in every field, and whose page is not. */
  const plant = (directory: string, owner: number): void => {
    const path = entryPath(directory, cacheKey(URL, 'http'));
    mkdirSync(dirname(path), {recursive: true});
    writeFileSync(
      path,
      printEntry({
        canonical_url: URL,
        rendering_method: 'http',
        fetched_at: '2026-01-10T11:00:00.000Z',
        expires_at: '2026-01-17T11:00:00.000Z',
        last_accessed_at: '2026-01-10T11:00:00.000Z',
        notes: [],
        extracted: {markdown: 'planted'},
      }),
    );
    chownSync(path, owner, owner);
    chownSync(dirname(path), owner, owner);
  };

  beforeAll(async () => {
    // Outside of a test there is no directory that goes by itself.
    const {stdout: made} = await run('mktemp', ['-d', '/tmp/forge-test-XXXXXX']);
    const base = made.trim();
    try {
      chmodSync(base, 0o755);
      const make = (name: string, mode: number, owner: number, planted?: number): void => {
        const directory = join(base, name);
        mkdirSync(directory);
        if (planted !== undefined) plant(directory, planted);
        chownSync(directory, owner, owner);
        chmodSync(directory, mode);
      };
      make('of our own', 0o700, 65_534, 65_534);
      make('of root', 0o755, 0, 0);
      make('of root, open to all', 0o777, 0, 0);
      make('of another user', 0o777, 12_345, 12_345);
      make('ours, open to all', 0o777, 65_534, 12_345);
      make('ours, open to a group', 0o770, 65_534, 12_345);
      make('ours, not writable', 0o500, 65_534);
      make('ours, without any right', 0o000, 65_534, 65_534);
      make('locked', 0o700, 0);
      symlinkSync(join(base, 'of our own'), join(base, 'a link to our own'));
      writeFileSync(join(base, 'a file'), 'x');
      const names = [
        'of root',
        'of root, open to all',
        'of another user',
        'ours, open to all',
        'ours, open to a group',
        'ours, not writable',
        'ours, without any right',
        'locked/inside',
        'a link to our own',
        'a file',
        'of our own',
      ];
      const {stdout} = await run(process.execPath, [script('cache-files-stranger.js'), base, URL, ...names]);
      answers = JSON.parse(stdout) as typeof answers;
    } finally {
      await run('rm', ['-rf', base]);
    }
  });

  const disabled = (reason: string) => ({
    before: null,
    written: true,
    after: null,
    logs: [expect.stringContaining(reason)],
  });

  test('positive control: our own directory is used, and what is in it is served', () => {
    expect(answers['of our own']).toEqual({before: 'planted', written: true, after: 'ours', logs: []});
  });

  test.each([
    ['of root', 'it belongs to another user'],
    ['of root, open to all', 'it belongs to another user'],
    ['of another user', 'it belongs to another user'],
    ['ours, open to all', 'every user can write to it'],
    ['locked/inside', 'it cannot be created (EACCES)'],
    ['a link to our own', 'it is a symbolic link'],
    ['a file', 'it cannot be created (EEXIST)'],
  ])('ruling F5 a directory %s disables caching, with one warning', (name, reason) => {
    expect(answers[name]).toEqual(disabled(reason));
  });

  test('ruling F5 an entry that a member of our group planted is never served', () => {
    expect(answers['ours, open to a group']).toMatchObject({before: null});
    expect(answers['ours, open to a group']?.after).not.toBe('planted');
  });

  test.each(['ours, not writable', 'ours, without any right'])(
    'FR-WF-16h a directory %s: no hit, no failure, a note',
    name => {
      expect(answers[name]).toMatchObject({before: null, written: false, after: null});
      expect(answers[name]?.logs).toContain('cache_write_failed');
    },
  );
});
