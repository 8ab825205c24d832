import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {MAX_OUTPUT_BYTES, OutputCapture} from './output-capture.ts';

function capture(chunks: readonly Uint8Array[]) {
  const output = new OutputCapture();
  for (const chunk of chunks) output.write(chunk);
  return output.finish();
}

describe('OutputCapture', () => {
  test('ruling W9 up to 102,400 bytes an output is kept as it is', {tags: 'slow'}, () => {
    for (const size of [0, 1, 4096, 51_200, MAX_OUTPUT_BYTES]) {
      const bytes = Uint8Array.from({length: size}, (_, at) => at % 251);
      const totalLines = Buffer.from(bytes).toString('latin1').split('\n').length - (size === 0 ? 1 : 0);
      expect(capture([bytes])).toEqual({bytes, totalBytes: size, totalLines, leftOutBytes: 0});
    }
  });

  test('ruling W9 beyond, head and tail with a marker that says how much was left out', () => {
    const whole = Buffer.from(`head${'x'.repeat(200_000)}tail`);
    const {bytes, totalBytes, leftOutBytes} = capture([whole]);
    const text = Buffer.from(bytes).toString();
    expect(totalBytes).toBe(200_008);
    expect(bytes.length).toBeLessThanOrEqual(MAX_OUTPUT_BYTES);
    expect(text).toMatch(/^headx+\n\[\.\.\. \d+ bytes left out \.\.\.\]\nx+tail$/);
    expect(text).toContain(`[... ${leftOutBytes} bytes left out ...]`);
    expect(text.match(/x/g)?.length).toBe(200_000 - leftOutBytes);
  });

  test('ruling W9 one byte too many costs no more than the marker', () => {
    const {bytes, leftOutBytes} = capture([Buffer.alloc(MAX_OUTPUT_BYTES, 'x'), Buffer.from('y')]);
    expect(leftOutBytes).toBe(65);
    expect(Buffer.from(bytes).toString().endsWith('xy')).toBe(true);
  });

  test('policy: however an output arrives, the same is kept', {tags: 'slow'}, () => {
    fc.assert(
      fc.property(
        fc.nat(400_000),
        fc.array(fc.integer({min: 1, max: 120_000}), {minLength: 1, maxLength: 20}),
        (size, cuts) => {
          const whole = Buffer.from(Uint8Array.from({length: size}, (_, at) => (at * 7 + (at >> 8)) % 128));
          const chunks: Buffer[] = [];
          for (let at = 0, turn = 0; at < size; turn++) {
            const next = at + (cuts[turn % cuts.length] ?? 1);
            chunks.push(whole.subarray(at, next));
            at = next;
          }
          const {bytes, totalBytes, leftOutBytes} = capture(chunks);
          expect(totalBytes).toBe(size);
          expect(bytes.length).toBeLessThanOrEqual(MAX_OUTPUT_BYTES);
          expect(Buffer.compare(bytes, capture([whole]).bytes)).toBe(0);
          if (leftOutBytes === 0) return;
          const marker = Buffer.from(`\n[... ${leftOutBytes} bytes left out ...]\n`);
          const at = Buffer.from(bytes).indexOf(marker);
          const tail = bytes.subarray(at + marker.length);
          expect(Buffer.compare(bytes.subarray(0, at), whole.subarray(0, at))).toBe(0);
          expect(Buffer.compare(tail, whole.subarray(size - tail.length))).toBe(0);
          expect(at + tail.length + leftOutBytes).toBe(size);
        },
      ),
      {numRuns: 60},
    );
  });

  test('policy: a cut does not go through a character', () => {
    for (const character of ['é', '€', '😀']) {
      for (let shift = 0; shift < 4; shift++) {
        const {bytes} = capture([Buffer.from('a'.repeat(shift) + character.repeat(80_000))]);
        expect(() => new TextDecoder('utf-8', {fatal: true}).decode(bytes)).not.toThrow();
      }
    }
  });

  /** Half of what is left beside the marker. */
  const PART = (MAX_OUTPUT_BYTES - 64) / 2;
  const whole = (...parts: readonly (string | readonly number[])[]) =>
    Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

  /** How many bytes of head and tail are kept, which are those of the output. */
  function kept(output: Buffer): readonly [number, number] {
    const {bytes, leftOutBytes} = capture([output]);
    const marker = Buffer.from(`\n[... ${leftOutBytes} bytes left out ...]\n`);
    const head = Buffer.from(bytes).indexOf(marker);
    const tail = bytes.length - head - marker.length;
    const planned = [output.subarray(0, head), marker, output.subarray(output.length - tail)];
    expect(Buffer.concat(planned).equals(bytes)).toBe(true);
    return [head, tail];
  }

  test.each(['À', 'é', '\u0800', '\u1000', '€', '\u{10000}', '😀'])(
    'policy: of %s all bytes are kept or none, wherever the cut goes',
    character => {
      const {length} = Buffer.from(character);
      for (let before = 0; before <= 5; before++) {
        const isCut = before > 0 && before < length;
        const head = whole('a'.repeat(PART - before), character, 'b'.repeat(200_000));
        expect([before, kept(head)]).toEqual([before, [isCut ? PART - before : PART, PART]]);
        const tail = whole('a'.repeat(200_000), character, 'b'.repeat(PART + before - length));
        expect([before, kept(tail)]).toEqual([before, [PART, isCut ? PART + before - length : PART]]);
      }
    },
  );

  test('policy: of bytes that are no text, three are left out at most', () => {
    const rest = 'b'.repeat(200_000);
    expect(kept(Buffer.alloc(200_000, 0x80))).toEqual([PART, PART - 3]);
    expect(kept(whole('a'.repeat(PART - 1), [0xc0], rest))).toEqual([PART - 1, PART]);
    expect(kept(whole('a'.repeat(PART - 2), [0xe2], 'a', rest))).toEqual([PART, PART]);
    expect(kept(whole('a'.repeat(PART - 4), [0xf0, 0x80, 0x80, 0x80], rest))).toEqual([PART, PART]);
    expect(kept(whole('a'.repeat(PART - 4), [0xf0, 0x80, 0x80, 0x80, 0x80], rest))).toEqual([PART, PART]);
  });

  test('policy: the end of an output is kept, however many parts it comes in', () => {
    const parts = ['a'.repeat(150_000), 'b'.repeat(30_000), 'c'.repeat(30_000), 'd'.repeat(30_000), 'e'];
    const inParts = capture(parts.map(part => Buffer.from(part)));
    expect(inParts).toEqual(capture([Buffer.from(parts.join(''))]));
    const text = parts.join('').slice(-PART);
    expect(Buffer.from(inParts.bytes).toString().endsWith(text)).toBe(true);
  });

  test('W9: what does not fit goes on from its first byte, and not before', () => {
    const spilt: Buffer[] = [];
    const output = new OutputCapture(bytes => spilt.push(Buffer.from(bytes)));
    output.write(Buffer.alloc(MAX_OUTPUT_BYTES, 'x'));
    expect(spilt).toEqual([]);
    output.write(Buffer.from('y'));
    expect(Buffer.concat(spilt).toString() === `${'x'.repeat(MAX_OUTPUT_BYTES)}y`).toBe(true);
    output.write(Buffer.from('z'));
    expect(spilt.map(({length}) => length)).toEqual([MAX_OUTPUT_BYTES, 1, 1]);
  });

  test('W9: a sink that is live gets each part as it comes', () => {
    const parts: string[] = [];
    const output = new OutputCapture({live: bytes => parts.push(Buffer.from(bytes).toString())});
    for (const part of ['a', 'b', 'x'.repeat(MAX_OUTPUT_BYTES), 'c']) output.write(Buffer.from(part));
    expect(parts.map(({length}) => length)).toEqual([1, 1, MAX_OUTPUT_BYTES, 1]);
  });

  test('W17: however an output arrives, its lines are counted, and what does not fit goes on whole', () => {
    const part = fc.oneof(
      fc.constantFrom('\n'.repeat(1000), 'x'.repeat(60_000), 'ab\n'.repeat(400), '\n', 'no end'),
      fc.string({maxLength: 20}),
    );
    fc.assert(
      fc.property(fc.array(part, {maxLength: 12}), parts => {
        const spilt: Buffer[] = [];
        const output = new OutputCapture(bytes => spilt.push(Buffer.from(bytes)));
        const chunks = parts.map(text => Buffer.from(text));
        for (const chunk of chunks) output.write(chunk);
        const whole = Buffer.concat(chunks);
        const text = whole.toString('latin1');
        const lines = text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0);
        expect(output.finish().totalLines).toBe(lines);
        const isLong = whole.length > MAX_OUTPUT_BYTES;
        expect(Buffer.concat(spilt).equals(isLong ? whole : Buffer.alloc(0))).toBe(true);
      }),
      {numRuns: 200},
    );
  });
});
