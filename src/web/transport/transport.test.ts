import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {decideMedia, parseContentType, sniffMedia} from './media.ts';
import {ByteCollector} from './read-body.ts';

function media(...values: readonly string[]) {
  const result = decideMedia(values, {accepts: new Set()});
  return result.ok ? result.value.media : {[result.error.code]: result.error.details['content_type']};
}

function sniff(body: string) {
  const result = sniffMedia(Uint8Array.from(Buffer.from(body, 'latin1')), {accepts: new Set()});
  return result.ok ? result.value : {[result.error.code]: result.error.details['content_type']};
}

describe('Content-Type', () => {
  test.each([
    ['text/html', 'html'],
    ['TEXT/HTML', 'html'],
    [' text/html ; charset=utf-8', 'html'],
    ['text/html;', 'html'],
    ['text/html; q="a;b, c"', 'html'],
    ['application/xhtml+xml; profile=x', 'html'],
    ['text/plain; format=flowed', 'text'],
  ])('FR-WF-CT-01 %j', (value, expected) => {
    expect(media(value)).toBe(expected);
  });

  test.each([
    ['application/json', 'application/json'],
    ['Application/PDF; x=y', 'application/pdf'],
    ['image/svg+xml', 'image/svg+xml'],
    ['application/xml', 'application/xml'],
    ['text/markdown', 'text/markdown'],
    // The server's word in a message: neither long nor active.
    ['application/\x9b31mx\xad', 'application/?31mx?'],
    [`x/${'y'.repeat(60_000)}`, `x/${'y'.repeat(98)}`],
    ['text/htmlx', 'text/htmlx'],
    ['text', 'text'],
    ['text/html/x', 'text/html/x'],
    ['text/ht ml', 'text/ht ml'],
    ['*/*', '*/*'],
    ['charset=utf-8', 'charset=utf-8'],
  ])('FR-WF-10g %j is refused by name', (value, content_type) => {
    expect(media(value)).toEqual({unsupported_content_type: content_type});
  });

  test('ruling C6 an empty header is a missing one', () => {
    expect(decideMedia(undefined, {accepts: new Set()})).toEqual({ok: true, value: {}});
    for (const values of [[], [''], ['  '], ['', ','], [';charset=x']])
      expect([values, media(...values)]).toEqual([values, undefined]);
  });

  test('ruling C5 Markdown on request', () => {
    const result = decideMedia(['text/markdown; charset=latin1'], {accepts: new Set(['markdown'])});
    expect(result).toEqual({ok: true, value: {media: 'markdown', charset: 'latin1'}});
  });

  test.each([
    ['text/html;charset=utf-8', 'utf-8'],
    ['text/html; Charset = "x"', undefined],
    ['text/html; CHARSET="utf-8"', 'utf-8'],
    ['text/html; charset="ut\\f-8" ; x', 'utf-8'],
    ['text/html; charset=utf-8;charset=latin1', 'utf-8'],
    ['text/html; x="charset=a;b"; charset=utf-8', 'utf-8'],
    ['text/html; charset=" utf-8', ' utf-8'],
    ['text/html; ;;charset= utf-8 ', 'utf-8'],
    ['text/html; charset=', undefined],
    ['text/html; charset=""', undefined],
    ['text/html; notcharset=utf-8', undefined],
    ['text/html', undefined],
  ])('WHATWG MIME Sniffing §4.4 charset of %j', (value, charset) => {
    expect(parseContentType([value])).toEqual({mediaType: 'text/html', charset});
  });

  test.each([
    [['text/plain', 'text/html'], {mediaType: 'text/html'}],
    [['text/plain, text/html;charset=a'], {mediaType: 'text/html', charset: 'a'}],
    [['text/html;charset=a', 'text/html'], {mediaType: 'text/html', charset: 'a'}],
    [['text/plain;charset=a', 'text/html'], {mediaType: 'text/html'}],
    [['text/html;charset=a', 'text/html;charset=b'], {mediaType: 'text/html', charset: 'b'}],
    [['text/html', '*/*'], {mediaType: 'text/html'}],
    [['text/html', 'nonsense'], {mediaType: 'text/html'}],
    [['text/html;x="a,text/plain"'], {mediaType: 'text/html'}],
  ])('Fetch "extract a MIME type" of %j', (values, expected) => {
    expect(parseContentType(values)).toEqual({charset: undefined, ...expected});
  });

  test('a header of delimiters takes no time to speak of', () => {
    const started = performance.now();
    for (const char of [';', ',', '=', '"', '\\', ';x="'])
      parseContentType([`text/html${char.repeat(65_536)}`]);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('without Content-Type', () => {
  test.each([
    ['%PDF-1.7', 'application/pdf'],
    ['\x89PNG\r\n', 'image/png'],
    ['GIF87a', 'image/gif'],
    ['GIF89a', 'image/gif'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['PK\x03\x04', 'application/zip'],
    ['\x00\x00\x00\x1cftypmp42', 'video/mp4'],
    ['\n\n  ftypisom', 'video/mp4'],
    ['\xef\xbb\xbf\n %PDF-1.4', 'application/pdf'],
    ['text\0', 'application/octet-stream'],
    ['<html>\0', 'application/octet-stream'],
  ])('FR-WF-10h %j is binary', (body, type) => {
    expect(sniff(body)).toEqual({unsupported_content_type: type});
  });

  test.each([
    ['<!DOCTYPE html>', 'html'],
    ['<!doctype svg>', 'html'],
    ['<HTML lang=en>', 'html'],
    ['\xef\xbb\xbf\r\n\t <html>', 'html'],
    ['<p>text', 'text'],
    ['x<!doctype html>', 'text'],
    ['GIF88a', 'text'],
    ['say %PDF-', 'text'],
    ['', 'text'],
    [`${'a'.repeat(512)}\0`, 'text'],
  ])('FR-WF-10h, ruling C6 %j', (body, expected) => {
    expect(sniff(body)).toBe(expected);
  });
});

test('policy: what was appended comes back joined, in order', () => {
  const sizes = fc.oneof(
    fc.nat(20),
    fc.integer({min: 4000, max: 4200}),
    fc.constantFrom(65_535, 65_536, 65_537),
  );
  fc.assert(
    fc.property(fc.array(sizes, {maxLength: 20}), all => {
      const collector = new ByteCollector();
      const parts = all.map((size, index) => Buffer.alloc(size, index + 1));
      for (const part of parts) collector.append(part);
      expect(collector.length).toBe(parts.reduce((total, part) => total + part.length, 0));
      const whole = Buffer.concat(parts);
      expect(Buffer.compare(collector.join(), whole)).toBe(0);
    }),
  );
});

test('policy: small parts of a large buffer do not keep it alive', () => {
  const collector = new ByteCollector();
  for (let index = 0; index < 10; index += 1) collector.append(Buffer.alloc(1_000_000).subarray(0, 10));
  expect(collector.join().buffer.byteLength).toBeLessThan(10_000);
});

test('FR-WF-19 of a large body the parts with memory of their own are given up, and others are left alone', () => {
  const collector = new ByteCollector();
  const own = Array.from({length: 20}, (_, index) => Buffer.alloc(65_536, index + 1));
  const shared = Buffer.alloc(40_000, 0xff);
  const part = shared.subarray(0, 30_000);
  for (const bytes of [...own, part, Buffer.from('end')]) collector.append(bytes);
  const length = 20 * 65_536 + 30_003;
  const whole = collector.join();
  expect(whole.length).toBe(length);
  expect([whole[0], whole[65_536 * 20 - 1], whole[65_536 * 20], whole.at(-1)]).toEqual([1, 20, 0xff, 0x64]);
  expect(own.every(bytes => bytes.length === 0)).toBe(true);
  expect([shared.length, part[0]]).toEqual([40_000, 0xff]);
});
