import {expect, test} from 'vitest';
import {diedBySignal} from './died-by-signal.ts';

test.each([
  [['[1] + Done(137)'], false],
  [['[1]   Done'], false],
  [['[1]+  Exit 137                sh'], false],
  [['[1] + Killed'], true],
  [['[1] + Killed', 'left sleep', ''], true],
  [['[1]+  Killed                  Running, then Done'], true],
  [['[1]-  Segmentation fault'], true],
  [['[1]Donexx'], true],
  [['[1] + Running', '[1] + Killed'], true],
  [['[1] + Killed', '[1] + Running'], true],
  [['[1] + Stopped'], undefined],
  [['[1] + Done', '[1] + Killed'], true],
  [['[2] + Killed'], undefined],
  [['x [1] + Killed'], undefined],
  [[''], undefined],
  [[], undefined],
])('W20 of the jobs %j a shell says that a signal ended its command: %j', (lines, expected) => {
  expect(diedBySignal(lines)).toBe(expected);
});
