import {expect, test} from 'vitest';
import {expandPath} from './expand-path.ts';

const env = {HOME: '/home/u', SET: 'x', BLANK: ' ', TEMP: ''};
const expand = (written: string, more: object = {}) =>
  expandPath(written, {env: {...env, ...more}, cwd: '/work', tempDir: '/tmp'});
const unset = (names: string) => `uses ${names}, which the environment does not set; it counts as empty`;

test.each([
  ['/a/b', '/a/b'],
  ['a/../b', '/work/b'],
  ['${SET}/${SET}', '/work/x/x'],
  ['${HOME}/c', '/home/u/c'],
  ['${TEMP}/c', '/tmp/c'],
  ['$SET/{SET}/${}x', ''],
  ['', ''],
  ['   ', ''],
  [' a', '/work/ a'],
  ['a~/b', '/work/a~/b'],
  ['~a', '/work/~a'],
])('FR-WF-CFG-03 the path %j is %j', (written, path) => {
  expect(expand(written).path).toBe(path);
});

test('FR-WF-CFG-03a what is put in is not expanded again, and what is blank is not set', () => {
  expect(expand('${A}', {A: '/${SET}'})).toEqual({path: '/${SET}'});
  expect(expand('${BLANK}')).toEqual({path: '', warning: unset('${BLANK}')});
  expect(expand('${TEMP}', {TEMP: '/other'})).toEqual({path: '/other'});
  expect(expand('${toString}')).toEqual({path: '', warning: unset('${toString}')});
  expect(expand('${A}/${SET}/${B}')).toEqual({path: '', warning: unset('${A}, ${B}')});
  expect(expand(' ')).toEqual({path: ''});
});

test.each(['~', '~/a', '~\\a'])('policy: %s comes with what to write instead', written => {
  const {path, warning} = expand(written);
  expect(path).toBe(`/work/${written}`);
  expect(warning).toBe(`starts with "~", which is not expanded; ${path} is used. Write \${HOME} instead`);
});

test('policy: a tilde elsewhere is a name', () => {
  for (const written of ['a~/b', '~a', '/~/b']) expect(expand(written).warning).toBeUndefined();
});
