import {describe, expect, test} from 'vitest';
import {fillProfile, PROFILES} from './fill-profile.ts';
import {resolveConfig} from './resolve/resolve-config.ts';

const SURROUNDINGS = {env: {}, cwd: '/srv/app', tempDir: '/tmp'};

function resolved(raw: unknown) {
  const result = resolveConfig(raw, SURROUNDINGS);
  if (!result.ok) throw new Error(result.error.join('\n'));
  return result.value;
}

describe('ruling H7', () => {
  test('without a profile the defaults of the SRD hold', () => {
    for (const raw of [undefined, {}, {profile: 'none'}]) {
      expect(resolved(raw).config.tools).toMatchObject({mode: 'disabled', webfetch: {enabled: false}});
    }
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
      webfetch: {enabled: false, timeout_seconds: 7},
      webread: {media: {markdown: false, json: false, feeds: false, pdf: false}},
      taint: {mode: 'off'},
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
