import {describe, expect, test} from 'vitest';
import {ruleOf} from '../../../test/support/open-test-runtime.ts';
import {resolveSection} from '../../config/resolve/resolve-section.ts';
import type {Section} from '../../core/setting.ts';
import {RUNTIME_EVENTS} from '../events/run-event.ts';
import {TAINT_OFF, taintSection} from '../taint/options.ts';
import {approvalSection} from './options.ts';

function resolved(section: Section, raw: unknown) {
  const findings = {warnings: [], problems: []};
  const values = resolveSection(section, raw, {env: {}, cwd: '/', tempDir: '/tmp'}, findings);
  return {values, ...findings};
}

type Documented = Section['entries'][string];

/** Each entry by its name with a point for each table that it is in. */
function entriesOf(section: Section): readonly (readonly [string, Documented])[] {
  const walk = (entry: Documented, name: string): readonly (readonly [string, Documented])[] => [
    [name, entry],
    ...('entries' in entry
      ? Object.entries(entry.entries).flatMap(([key, one]) => walk(one, `${name}.${key}`))
      : []),
  ];
  return walk(section, '');
}

describe('ruling H3: [tools.approval]', () => {
  test('what is not written asks, and allows and denies nothing', () => {
    expect(resolved(approvalSection, undefined)).toEqual({
      values: {mode: 'prompt', allowlist: [], denylist: [], rules: []},
      warnings: [],
      problems: [],
    });
  });

  test('what is written is taken', () => {
    const rule = {
      tool: 'run',
      decision: 'allow',
      command_prefix: 'npm',
      tainted: true,
      reason: 'It is ours.',
    };
    const raw = {mode: 'auto', allowlist: ['run'], denylist: ['web_fetch'], rules: [rule]};
    expect(resolved(approvalSection, raw)).toEqual({
      values: {...raw, rules: [{...ruleOf({}), ...rule}]},
      warnings: [],
      problems: [],
    });
    for (const mode of ['prompt', 'auto', 'deny'])
      expect(resolved(approvalSection, {mode})).toMatchObject({values: {mode}, problems: []});
    for (const decision of ['allow', 'ask', 'deny'])
      expect(resolved(approvalSection, {rules: [{tool: '*', decision}]})).toMatchObject({problems: []});
  });

  test('a rule without its tool or its decision stops the start', () => {
    expect(resolved(approvalSection, {rules: [{path: 'a'}]}).problems).toEqual([
      'Expected rules[0] to have the key "tool". Add it.',
      'Expected rules[0] to have the key "decision". Add it.',
    ]);
    expect(resolved(approvalSection, {rules: [{tool: '*', decision: 'ask'}]}).values).toEqual({
      mode: 'prompt',
      allowlist: [],
      denylist: [],
      rules: [{...ruleOf({decision: 'ask'}), tainted: false}],
    });
  });

  test.each([
    ['a mode', {mode: 'never'}],
    ['a decision', {rules: [{tool: '*', decision: 'never'}]}],
    ['a list', {allowlist: 'run'}],
    ['a flag', {rules: [{tool: '*', decision: 'ask', tainted: 'yes'}]}],
  ])('%s that is none stops the start', (_, raw) => {
    expect(resolved(approvalSection, raw).problems).toHaveLength(1);
  });
});

describe('T1: [tools.taint]', () => {
  test('what is not written follows nothing', () => {
    expect(resolved(taintSection, undefined)).toEqual({values: TAINT_OFF, warnings: [], problems: []});
    expect(TAINT_OFF).toEqual({mode: 'off', assume: 'none', choice_bits: 64});
  });

  test.each([
    [{mode: 'off', assume: 'none', choice_bits: 0}],
    [{mode: 'warn', assume: 'untrusted', choice_bits: 4096}],
    [{mode: 'enforce', assume: 'none', choice_bits: 1}],
  ])('%j is taken', raw => {
    expect(resolved(taintSection, raw)).toEqual({values: raw, warnings: [], problems: []});
  });

  test('more bits than there may be are clamped, with a warning', () => {
    const {values, warnings} = resolved(taintSection, {choice_bits: 4097});
    expect(values).toMatchObject({choice_bits: 4096});
    expect(warnings).toEqual([expect.stringContaining('4096')]);
    expect(resolved(taintSection, {choice_bits: -1}).values).toMatchObject({choice_bits: 0});
    expect(resolved(taintSection, {mode: 'on'}).problems).toHaveLength(1);
  });
});

describe('what is told of them', () => {
  test.each([
    ['approval', approvalSection],
    ['taint', taintSection],
  ])('every setting of %s has its sentences', (_, section) => {
    for (const [name, {doc}] of entriesOf(section))
      expect([name, doc]).toEqual([name, expect.stringMatching(/^\S.{10,}\.$/)]);
  });

  test('what the SRD does not have says so', () => {
    const extensions = (section: Section) =>
      entriesOf(section).flatMap(([name, {extension}]) => (extension === true ? [name] : []));
    expect(extensions(approvalSection)).toEqual(['.rules', '.rules.tainted']);
    expect(extensions(taintSection)).toEqual(['', '.mode', '.assume', '.choice_bits']);
    expect(taintSection.entries.choice_bits.unit).toBe('bits');
  });

  test('ruling W10: every event of the runtime says when it is written, and what is in it', () => {
    for (const [event, {when, payload}] of Object.entries(RUNTIME_EVENTS)) {
      expect([event, when]).toEqual([event, expect.stringMatching(/^[A-Z].{10,}\.$/)]);
      expect(payload.every(field => /^[a-z][a-z_0-9]+$/.test(field))).toBe(true);
    }
    // session.test.ts has such a line.
    expect(RUNTIME_EVENTS.log_repaired.payload).toEqual(['torn_bytes', 'kept_in']);
  });
});
