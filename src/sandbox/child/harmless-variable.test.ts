import {expect, test} from 'vitest';
import {isHarmlessVariable} from './harmless-variable.ts';

test.each(['LANG', 'LC_ALL', 'LC_TIME', 'TZ', 'TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'CI'])(
  'review R10: %s is for printing',
  name => {
    expect(isHarmlessVariable(name, 'x')).toBe(true);
  },
);

test.each([
  'PATH',
  'HOME',
  'LD_PRELOAD',
  'XLANG',
  'LANGUAGES',
  'LC_',
  'LC_a',
  'TZDIR',
  'TERMINFO',
  'CIX',
  '',
])('review R10: %s is not given to a process of the host', name => {
  expect(isHarmlessVariable(name, 'x')).toBe(false);
});

test.each(['/etc/passwd', ':/etc/localtime', '../x', 'a/../b'])('review R10: nor is the value %s', value => {
  expect(isHarmlessVariable('TZ', value)).toBe(false);
  expect(isHarmlessVariable('TZ', 'Europe/Berlin')).toBe(true);
});
