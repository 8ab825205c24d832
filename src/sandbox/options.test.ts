import {expect, test} from 'vitest';
import type {Section, Setting} from '../core/setting.ts';
import {runSection} from './options.ts';

/** Each setting of a section, and of what lies below it, by its name. */
function settingsOf(
  entries: Section['entries'],
  above = '',
): readonly (readonly [string, Setting | Section])[] {
  return Object.entries(entries).flatMap(([key, entry]) => {
    const name = `${above}${key}`;
    const below = 'entries' in entry ? settingsOf(entry.entries, `${name}.`) : [];
    return [[name, entry] as const, ...below];
  });
}

const settings = [['', runSection] as const, ...settingsOf(runSection.entries)];

/** All that a setting is, but for the sentences that describe it. */
function withoutWords(setting: Setting | Section): Readonly<Record<string, unknown>> {
  const left = Object.entries(setting).filter(([key]) => key !== 'doc' && key !== 'entries');
  return Object.fromEntries(left);
}

const seconds = {kind: 'integer', unit: 's'};
const megabytes = {kind: 'integer', unit: 'MiB', max: 1_048_576};
const section = {kind: 'section', extension: true};
const text = {kind: 'text', default: ''};
const nothing = {kind: 'text-list', default: []};

test('policy: out of the box commands are confined, offline, and leave .git alone', () => {
  expect(Object.fromEntries(settings.map(([name, setting]) => [name, withoutWords(setting)]))).toEqual({
    '': section,
    enabled: {kind: 'flag', default: true},
    sandbox: {kind: 'choice', default: 'auto', choices: ['auto', 'docker', 'bubblewrap', 'none']},
    allow_insecure_none: {kind: 'flag', default: false},
    git: {kind: 'choice', default: 'read-only', choices: ['read-only', 'commit']},
    isolation: {kind: 'choice', default: 'session', choices: ['session', 'fresh']},
    timeout_seconds: {...seconds, default: 120, min: 1, max: 3600},
    max_timeout_seconds: {...seconds, default: 600, min: 1, max: 86_400},
    background: section,
    'background.max_commands': {kind: 'integer', default: 4, min: 0, max: 64},
    'background.max_life_seconds': {...seconds, default: 3600, min: 1, max: 86_400},
    egress: section,
    'egress.allow': nothing,
    'egress.presets': nothing,
    'egress.credentials': {kind: 'table-list', default: [], required: ['host']},
    'egress.credentials.host': text,
    'egress.credentials.header': {kind: 'text', default: 'Authorization'},
    'egress.credentials.prefix': text,
    'egress.credentials.env': text,
    'egress.credentials.file': {...text, path: true},
    'egress.max_connections': {kind: 'integer', default: 1000, min: 1, max: 100_000},
    'egress.max_mb': {...megabytes, default: 1024, min: 1},
    'egress.max_connection_sec': {...seconds, default: 600, min: 1, max: 86_400},
    memory_mb: {...megabytes, default: 2048, min: 64},
    tmp_mb: {...megabytes, default: 512, min: 1},
    max_processes: {kind: 'integer', default: 512, min: 16, max: 32_768},
    cpus: {kind: 'integer', default: 2, min: 1, max: 1024},
    open_files: {kind: 'integer', default: 4096, min: 64, max: 1_048_576},
    kept_output_mb: {...megabytes, default: 256, min: 64},
    path: {kind: 'text', default: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'},
    readable_paths: {kind: 'text-list', default: ['/opt']},
    inherit_env: {kind: 'text-list', default: ['LANG', 'LC_ALL', 'TZ']},
    docker: section,
    'docker.image': {kind: 'text', default: 'debian:bookworm-slim'},
    'docker.user': text,
  });
});

test('policy: each setting says what it does', () => {
  for (const [name, {doc}] of settings)
    expect({name, doc}).toEqual({name, doc: expect.stringMatching(/^\S.+\.$/s)});
});
