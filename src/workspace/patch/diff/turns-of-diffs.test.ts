import {expect, test} from 'vitest';
import type {WritablePath} from '../../workspace-path.ts';
import type {FileChange} from '../file-change.ts';
import {renderFileChanges} from './render-unified.ts';

/** Nothing of its content is looked at. */
function renameOf(bytes: number): FileChange {
  const state = {content: 'x'.repeat(bytes), mode: 0o644};
  return {kind: 'rename', path: 'y' as WritablePath, from: 'x' as WritablePath, old: state, new: state};
}

test('review R12: others have their turns between diffs of many bytes together', () => {
  const turnsOf = (...sizes: readonly number[]): number => {
    const work = renderFileChanges(sizes.map(renameOf));
    for (let turns = 0; ; turns += 1) if (work.next().done === true) return turns;
  };
  expect(turnsOf(262_143)).toBe(0);
  expect(turnsOf(262_144)).toBe(1);
  expect(turnsOf(131_072, 131_071, 1, 131_072)).toBe(1);
  expect(turnsOf(262_144, 262_144)).toBe(2);
});

test('review R12: of what is deleted the old bytes count', () => {
  const old = {content: '', mode: 0o644};
  const deletion: FileChange = {kind: 'delete', path: 'z' as WritablePath, old};
  const work = renderFileChanges([deletion, renameOf(262_144)]);
  expect(work.next()).toEqual({done: false, value: undefined});
  expect(work.next()).toMatchObject({done: true, value: [{path: 'z'}, {path: 'y'}]});
});
