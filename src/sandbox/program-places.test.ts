import {expect, test} from 'vitest';
import {systemClock} from '../core/clock.ts';
import {silentLog} from '../core/log.ts';
import {programPlaces} from './program-places.ts';

test('review R3: helpers are looked for in what is named and the path of the host, and never where commands write', () => {
  const host = {
    workspace: '/w',
    protectedPaths: [],
    env: {PATH: '/a:/b'},
    clock: systemClock,
    log: silentLog,
  };
  expect(programPlaces({...host, programDirectories: ['/p']})).toEqual({
    ...{path: '/a:/b', untrustedTrees: ['/w'], standard: ['/p']},
  });
});
