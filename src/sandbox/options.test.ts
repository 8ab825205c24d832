import {expect, test} from 'vitest';
import type {Section} from '../core/setting.ts';
import {runSection} from './options.ts';

/** Each setting below a section, by its name. */
function settingsOf({entries}: Section, above = ''): Readonly<Record<string, unknown>>[] {
  return Object.entries(entries).flatMap(([name, entry]) => [
    {name: `${above}${name}`, ...entry},
    ...(entry.kind === 'section' ? settingsOf(entry, `${above}${name}.`) : []),
  ]);
}

const settings = [{name: '', ...runSection}, ...settingsOf(runSection)];

test('policy: out of the box commands are confined, offline, and leave .git alone', () => {
  const defaults = settings.flatMap(({name, default: value}) => (value === undefined ? [] : [[name, value]]));
  expect(Object.fromEntries(defaults)).toEqual({
    enabled: true,
    sandbox: 'auto',
    allow_insecure_none: false,
    git: 'read-only',
    isolation: 'session',
    timeout_seconds: 120,
    max_timeout_seconds: 600,
    'background.max_commands': 4,
    'background.max_life_seconds': 3600,
    'egress.allow': [],
    'egress.presets': [],
    'egress.credentials': [],
    'egress.max_connections': 1000,
    'egress.max_mb': 1024,
    'egress.max_connection_sec': 600,
    memory_mb: 2048,
    tmp_mb: 512,
    max_processes: 512,
    cpus: 2,
    open_files: 4096,
    kept_output_mb: 256,
    path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    readable_paths: ['/opt'],
    inherit_env: ['LANG', 'LC_ALL', 'TZ'],
    'docker.image': 'debian:bookworm-slim',
    'docker.user': '',
  });
});

test('policy: a choice names its values, and each setting says what it does', () => {
  const choices = settings.flatMap(({name, choices: values}) =>
    values === undefined ? [] : [[name, values]],
  );
  expect(Object.fromEntries(choices)).toEqual({
    sandbox: ['auto', 'docker', 'bubblewrap', 'none'],
    git: ['read-only', 'commit'],
    isolation: ['session', 'fresh'],
  });
  for (const {name, doc} of settings)
    expect({name, doc}).toEqual({name, doc: expect.stringMatching(/^\S.+\.$/s)});
});

test('policy: each number has its unit and its range', () => {
  const numbers = settings.filter(({kind}) => kind === 'integer');
  const units = Object.fromEntries(numbers.map(({name, unit}) => [name, unit]));
  expect(units).toEqual({
    ...{timeout_seconds: 's', max_timeout_seconds: 's', 'background.max_life_seconds': 's'},
    ...{memory_mb: 'MiB', tmp_mb: 'MiB', kept_output_mb: 'MiB'},
    ...{
      'egress.max_connections': undefined,
      'egress.max_mb': 'MiB',
      'egress.max_connection_sec': 's',
    },
    ...{
      'background.max_commands': undefined,
      max_processes: undefined,
      cpus: undefined,
      open_files: undefined,
    },
  });
  for (const {name, min, max} of numbers) {
    expect({name, isRange: Number(min) < Number(max)}).toEqual({name, isRange: true});
  }
  expect(numbers).toHaveLength(13);
});

test('policy: these settings are none of the specification, and say so', () => {
  const kinds = settings.map(({name, kind, extension}) => `${name} ${kind} ${extension ?? ''}`.trim());
  expect(kinds.filter(line => line.includes('section'))).toEqual([
    'section true',
    'background section true',
    'egress section true',
    'docker section true',
  ]);
  expect(kinds.filter(line => line.includes(' text'))).toEqual([
    'egress.allow text-list',
    'egress.presets text-list',
    'path text',
    'readable_paths text-list',
    'inherit_env text-list',
    'docker.image text',
    'docker.user text',
  ]);
  expect(kinds.filter(line => line.includes(' flag'))).toEqual(['enabled flag', 'allow_insecure_none flag']);
});
