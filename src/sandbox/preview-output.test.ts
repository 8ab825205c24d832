import {describe, expect, test} from 'vitest';
import {OutputCapture} from './child/output-capture.ts';
import {previewOutput} from './preview-output.ts';

function preview(text: string | Uint8Array) {
  const output = new OutputCapture();
  output.write(Buffer.from(text));
  return previewOutput(output.finish(), 'ask again');
}

describe('previewOutput', () => {
  test('a short output is shown whole', () => {
    expect(preview('one\ntwo\n')).toEqual({text: 'one\ntwo\n', truncated: false});
    expect(preview('')).toEqual({text: '', truncated: false});
  });

  test('policy: head and tail of many lines, and how many are missing', () => {
    const lines = Array.from({length: 1000}, (_, at) => `line ${at}`);
    const {text, truncated} = preview(lines.join('\n'));
    expect(truncated).toBe(true);
    expect(text.startsWith('line 0\nline 1\n')).toBe(true);
    expect(text).toContain('\nline 59\n[800 of 1,000 lines left out; ask again]\nline 860\n');
    expect(text.endsWith('line 999')).toBe(true);
    // Behind the last line break there is no line.
    expect(preview(`${lines.join('\n')}\n`).text).toContain('[801 of 1,000 lines left out; ask again]');
  });

  test('W17: the lines that are counted are those of the whole output, also where the middle was not kept', () => {
    const lines = Array.from({length: 30_000}, (_, at) => `line ${at}`);
    const {text} = preview(`${lines.join('\n')}\n`);
    expect(text).toContain('\nline 59\n[29,801 of 30,000 lines left out; ask again]\nline 29861\n');
    expect(preview(lines.join('\n')).text).toContain(
      '[29,800 of 30,000 lines left out; ask again]\nline 29860\n',
    );
  });

  test('policy: 60 lines of the head and 140 of the tail are shown, and what is between them is counted', () => {
    const lines = (count: number) => Array.from({length: count}, (_, at) => `line ${at}`);
    expect(preview(lines(200).join('\n'))).toEqual({text: lines(200).join('\n'), truncated: false});
    const shown = lines(201).toSpliced(60, 1, '[1 of 201 lines left out; ask again]');
    expect(preview(lines(201).join('\n'))).toEqual({text: shown.join('\n'), truncated: true});
    const ended = lines(200).toSpliced(60, 1, '[1 of 200 lines left out; ask again]');
    expect(preview(`${lines(200).join('\n')}\n`).text).toBe(`${ended.join('\n')}\n`);
  });

  test('policy: 4,000 characters of the head and 8,000 of the tail are shown, line breaks counted', () => {
    const lines = (count: number) => Array.from({length: count}, (_, at) => String(at).padEnd(79, 'x'));
    expect(preview(lines(150).join('\n'))).toEqual({text: lines(150).join('\n'), truncated: false});
    const shown = lines(151).toSpliced(50, 1, '[1 of 151 lines left out; ask again]');
    expect(preview(lines(151).join('\n'))).toEqual({text: shown.join('\n'), truncated: true});
  });

  test('policy: a line of more than 1,000 characters is cut in its middle', () => {
    expect(preview(`a\n${'b'.repeat(1000)}`)).toEqual({text: `a\n${'b'.repeat(1000)}`, truncated: false});
    const {text, truncated} = preview(`a\n${'b'.repeat(1001)}`);
    expect(text).toMatch(/^a\nb+\[\.\.\. \d+ characters left out \.\.\.\]b+$/);
    const left = Number(/\d+/.exec(text)?.[0]);
    expect(text.match(/b/g)).toHaveLength(1001 - left);
    expect({truncated, isShort: text.length <= 1002}).toEqual({truncated: true, isShort: true});
  });

  test('policy: one line of 119,000 characters does not fill the context', () => {
    const {text, truncated} = preview(`${'x'.repeat(119_000)}`);
    expect(truncated).toBe(true);
    expect(text.length).toBeLessThan(2500);
    expect(preview(Array.from({length: 300}, () => 'y'.repeat(900)).join('\n')).text.length).toBeLessThan(
      13_000,
    );
  });

  test('policy: where parts of lines are missing and no line is, that is what is said', () => {
    const lines = [...Array.from({length: 12}, () => 'y'.repeat(900)), 'x'.repeat(150_000)];
    expect(preview(lines.join('\n')).text).toContain('\n[parts of 13 lines left out; ask again]\n');
  });

  test('policy: what was not kept is missing, also where the rest is short to a reader', () => {
    const {text, truncated} = preview('50%\r'.repeat(60_000));
    expect(truncated).toBe(true);
    expect(text.length).toBeLessThan(100);
  });

  test('policy: terminal sequences and invisible characters are left out', () => {
    expect(
      preview('\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b(B\x07\u202eabc\u{e0041}')
        .text,
    ).toBe('red linkabc');
    expect(preview('\x1b[').text).toBe('[');
  });

  test('policy: a progress bar is shown as it ended', () => {
    expect(preview('10%\r50%\r100%\r\ndone\r\n').text).toBe('100%\ndone\n');
  });

  test('policy: bytes that are no text become replacement characters', () => {
    expect(preview(new Uint8Array([0x61, 0xff, 0x62])).text).toBe('a\ufffdb');
  });

  test('policy: the worst outputs take linear time', () => {
    const started = performance.now();
    for (const unit of ['\x1b[', '\x1b]', '\x1b[1;', '\r', '\x1b(', 'x\x1b[31']) preview(unit.repeat(50_000));
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
