import {expect, test} from 'vitest';
import {cleanLine} from './clean-line.ts';

test.each([
  ['a tab\tand ~ of ASCII', 'a tab\tand ~ of ASCII'],
  ['', ''],
  ['über', 'über'],
  // ECMA-48: CSI with parameter bytes, intermediate bytes and a final byte.
  ['a\x1b[31mb\x1b[0mc', 'abc'],
  ['a\x1b[?25lb\x1b[1;2Hc\x1b[mD', 'abcD'],
  ['a\x1b[ qb\x1b[0~c\x1b[1!@d', 'abcd'],
  // OSC, ended by BEL, by ST, or not at all.
  ['a\x1b]0;title\x07b', 'ab'],
  ['a\x1b]8;;http://x\x1b\\b', 'ab'],
  ['a\x1b]0;title', 'a'],
  // Two characters, and with intermediate bytes.
  ['a\x1bcb\x1b=c\x1b(Bd\x1b#8e\x1b7f', 'abcdef'],
  ['a\x1b M', 'a'],
  // The last state of a line counts, with a line break of a terminal or without.
  ['10%\r50%\r100%\r', '100%'],
  ['10%\r100%', '100%'],
  ['\r', ''],
  ['done\r', 'done'],
  ['a\rb\x1b[K\r', 'b'],
  ['a\u202eb\u200bc', 'abc'],
])('policy: %j is shown as %j', (line, shown) => {
  expect(cleanLine(line)).toBe(shown);
});
