import {expect, test} from 'vitest';
import {nearestKey} from './nearest-key.ts';

test.each([
  ['a.mode', ['a.node', 'b.mode', 'a.modes'], 'a.node'],
  ['a.modes', ['b.modes', 'a.model'], 'b.modes'],
  ['a.mode', ['b.mode', 'a.mods'], 'b.mode'],
  ['a.mode', ['b.mods', 'a.mods'], 'a.mods'],
  ['mode', ['tools', 'node'], 'node'],
  ['mode', ['x.mode', 'mods'], 'x.mode'],
  ['x', [], undefined],
  [`a.${'k'.repeat(64)}z`, [`a.${'k'.repeat(64)}`, `b.${'k'.repeat(64)}z`], `a.${'k'.repeat(64)}`],
  ['abc', ['x.abc', 'a.abd', 'abd'], 'x.abc'],
])('policy: of the known keys, %s was meant as one of %j: %s', (unknown, known, expected) => {
  expect(nearestKey(unknown, known)).toBe(expected);
});
