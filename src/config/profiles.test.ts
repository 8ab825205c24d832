import {describe, expect, test} from 'vitest';
import type {Section, Setting} from '../core/setting.ts';
import {configSchema} from './config-schema.ts';
import {fillProfile, PROFILES} from './profiles.ts';
import {resolveConfig} from './resolve-config.ts';

const SURROUNDINGS = {env: {}, cwd: '/srv/app', tempDir: '/tmp'};

function resolved(raw: unknown) {
  const result = resolveConfig(raw, SURROUNDINGS);
  if (!result.ok) throw new Error(result.error.join('\n'));
  return result.value;
}

function leaves(section: Section, path: readonly string[] = []): [readonly string[], Setting][] {
  return Object.entries(section.entries).flatMap(([key, entry]): [readonly string[], Setting][] =>
    entry.kind === 'section' ? leaves(entry, [...path, key]) : [[[...path, key], entry]],
  );
}

describe('ruling H7', () => {
  test('the defaults of the SRD hold where tools.mode is written and no profile, or "none" is', () => {
    for (const raw of [{profile: 'none'}, {tools: {mode: 'enabled'}}, {tools: {mode: 'disabled'}}]) {
      const {profile, tools} = resolved(raw).config;
      expect({profile, ...tools}).toMatchObject({
        profile: 'none',
        webfetch: {enabled: false, cache_dir: '/tmp/forge-webfetch'},
      });
    }
  });

  test('without a profile and without tools.mode, "guarded" fills the rest', () => {
    const guarded = resolved({profile: 'guarded'}).config;
    for (const raw of [undefined, {}, {tools: {}}]) expect(resolved(raw).config).toEqual(guarded);
  });

  test('each setting that is written alone changes that setting alone', () => {
    const guarded = resolved(undefined).config;
    const written = leaves(configSchema).filter(([path]) => path.join('.') !== 'tools.mode');
    expect(written.length).toBeGreaterThan(100);
    for (const [path] of written) {
      const value = path.reduce<unknown>((table, key) => (table as Record<string, unknown>)[key], guarded);
      const raw = path.reduceRight<unknown>((inner, key) => ({[key]: inner}), value);
      expect(resolved(raw).config, path.join('.')).toEqual(guarded);
    }
  });

  test('ruling H5: profiles keep pages in the cache directory of the user', () => {
    const of = (env: Record<string, string>, homeDir?: string) => {
      const result = resolveConfig({}, {...SURROUNDINGS, env, ...(homeDir && {homeDir})});
      return result.ok && result.value.config.tools.webfetch.cache_dir;
    };
    expect(of({XDG_CACHE_HOME: '/c'}, '/home/u')).toBe('/c/forge-tools');
    expect(of({XDG_CACHE_HOME: 'relative'}, '/home/u')).toBe('/home/u/.cache/forge-tools');
    expect(of({}, '/home/u')).toBe('/home/u/.cache/forge-tools');
    expect(of({})).toMatch(/^\/tmp\/forge-tools-cache(-\d+)?\/forge-tools$/);
  });

  test('each profile offers the tools, and differs in what is asked about and what is offered', () => {
    const of = (profile: string) => {
      const {mode, access, approval, webfetch} = resolved({profile}).config.tools;
      return {mode, access, approval: approval.mode, fetch: webfetch.enabled};
    };
    expect(PROFILES.map(of)).toEqual([
      {mode: 'enabled', access: 'read-only', approval: 'prompt', fetch: true},
      {mode: 'enabled', access: 'all', approval: 'prompt', fetch: true},
      {mode: 'enabled', access: 'all', approval: 'auto', fetch: true},
    ]);
  });

  test.each(PROFILES)('"%s" fills only what is left open', profile => {
    const tools = {
      mode: 'disabled',
      access: 'all',
      approval: {mode: 'deny', denylist: ['run']},
      webfetch: {enabled: false, timeout_seconds: 7, cache_dir: '/c'},
      webread: {media: {markdown: false, json: false, feeds: false, pdf: false}},
      taint: {mode: 'off'},
      mcp: {results: 'both'},
    };
    const {profile: _, ...filled} = resolved({profile, tools}).config;
    const {profile: __, ...written} = resolved({tools}).config;
    expect(filled).toEqual(written);
  });

  test('T1 "guarded" shows what taint would do, and no profile lets it decide', () => {
    expect(PROFILES.map(profile => resolved({profile}).config.tools.taint.mode)).toEqual([
      'off',
      'warn',
      'off',
    ]);
  });

  test('ruling H8: every profile answers in text, and what the SRD has by default in both', () => {
    const of = (raw: object) => resolved(raw).config.tools.mcp.results;
    expect(PROFILES.map(profile => of({profile}))).toEqual(['text', 'text', 'text']);
    expect(of({tools: {mode: 'enabled'}})).toBe('both');
  });

  test('a mode that a profile filled in was not written down', () => {
    expect(resolved({profile: 'trusted'})).toMatchObject({writtenMode: undefined, writesApprovalMode: false});
    expect(resolved({profile: 'trusted', tools: {approval: {mode: 'auto'}}}).writesApprovalMode).toBe(true);
  });

  test('a profile turns off nothing of the guard', () => {
    const {security: standard} = resolved({}).config.tools.webfetch;
    for (const profile of PROFILES) {
      const {webfetch, run} = resolved({profile}).config.tools;
      expect(webfetch.security).toEqual(standard);
      expect(run).toEqual(resolved({}).config.tools.run);
    }
  });
});

test.each([
  [{profile: 'guarded', tools: 3}],
  [{profile: 'guarded', tools: {webfetch: []}}],
  [[]],
  ['guarded'],
])('policy: what is no table stays wrong (%j)', raw => {
  expect(fillProfile(raw)).toEqual(Array.isArray(raw) || typeof raw === 'string' ? raw : expect.anything());
  expect(resolveConfig(raw, SURROUNDINGS).ok).toBe(false);
});

test('policy: an unknown profile stops start-up', () => {
  expect(resolveConfig({profile: 'yolo'}, SURROUNDINGS)).toMatchObject({
    ok: false,
    error: [expect.stringContaining('"guarded"')],
  });
});
