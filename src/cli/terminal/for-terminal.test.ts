import {expect, test} from 'vitest';
import {forTerminal} from './for-terminal.ts';

test('ruling D12 of escape sequences, the colours of our own pass, and nothing that a terminal acts on', () => {
  const own = '\u001b[1mbold\u001b[22m \u001b[36mcyan\u001b[39m\n\ttext\r';
  expect(forTerminal(own)).toBe(own);
  for (const hostile of [
    '\u001b]0;title\u0007',
    '\u001b]8;;http://evil.example/\u001b\\link',
    '\u001b[2J',
    '\u001b[31;1m',
    '\u001b[8m',
    '\u009b31m',
    '\u0090q\u009c',
    '\b\b\b',
    '\u202egnp.exe',
    '\u{e0041}',
    '\u001b\u001b[2J',
  ]) {
    expect(forTerminal(hostile)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e\u{e0000}-\u{e007f}]/u);
  }
});
