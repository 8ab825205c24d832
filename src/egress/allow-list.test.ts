import {describe, expect, test} from 'vitest';
import type {EgressTarget} from '../core/egress/egress-gate.ts';
import {readAllowList} from './allow-list.ts';
import {EGRESS_PRESETS} from './presets.data.ts';

const https = (host: string, port = 443): EgressTarget => ({scheme: 'https', host, port});
const http = (host: string, port = 80): EgressTarget => ({scheme: 'http', host, port});

function allows(allow: readonly string[], target: EgressTarget): boolean {
  const list = readAllowList({allow, presets: []});
  return list.ok && list.value.allowing(target) !== undefined;
}

describe('tools.run.egress.allow', () => {
  test.each([
    ['a.test', https('a.test'), true],
    ['A.Test', https('a.test'), true],
    ['a.test', https('b.a.test'), false],
    ['a.test', https('a.test', 8443), false],
    ['a.test', http('a.test'), false],
    ['a.test:8443', https('a.test', 8443), true],
    ['a.test:80', http('a.test'), true],
    ['http://a.test', http('a.test'), true],
    ['http://a.test', https('a.test'), false],
    ['http://a.test:8080', http('a.test', 8080), true],
    ['*.a.test', https('b.a.test'), true],
    ['*.a.test', https('c.b.a.test'), true],
    ['*.a.test', https('a.test'), false],
    ['*.a.test', https('evila.test'), false],
    ['*.a.test:8443', https('b.a.test', 8443), true],
  ] as const)('X1 %s and %j: %s', (entry, target, expected) => {
    expect(allows([entry], target)).toBe(expected);
  });

  test.each([
    ...[
      '',
      '*',
      '*.',
      '*.com',
      'a.*.test',
      '127.0.0.1',
      '[::1]',
      'https://a.test',
      'a.test/path',
      'a.test:0',
    ],
    ...['a.test:65536', 'a b.test', 'http://*', 'a.test:443:1'],
  ])('X1 %j stops the start', entry => {
    expect(readAllowList({allow: [entry], presets: []})).toMatchObject({
      ok: false,
      error: [expect.stringContaining(`got ${JSON.stringify(entry)}`)],
    });
  });
});

describe('tools.run.egress.presets', () => {
  test('X1 each of them is of entries that can be read', () => {
    const list = readAllowList({allow: [], presets: Object.keys(EGRESS_PRESETS)});
    expect(list.ok && list.value.isEmpty).toBe(false);
    expect(list.ok && list.value.allowing(https('registry.npmjs.org'))).toBe(
      'tools.run.egress.presets "npm"',
    );
  });

  test('X1 one that is unknown stops the start; without any, nothing is open', () => {
    expect(readAllowList({allow: [], presets: ['maven']})).toMatchObject({
      error: [expect.stringContaining('one of npm, pypi, crates, debian, github, got "maven"')],
    });
    expect(readAllowList({allow: [], presets: ['constructor']}).ok).toBe(false);
    expect(readAllowList({allow: [], presets: []})).toMatchObject({value: {isEmpty: true}});
  });
});
