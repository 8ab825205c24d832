import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {prescanCharset} from './prescan-charset.ts';

function prescan(html: string) {
  return prescanCharset(Uint8Array.from(Buffer.from(html, 'latin1')));
}

describe('WHATWG HTML §13.2.3.2', () => {
  test.each([
    ['<meta charset=koi8-r>', 'koi8-r'],
    ['<META CHARSET = "KOI8-R" >', 'koi8-r'],
    ["<meta charset=' koi8-r '>", 'koi8-r'],
    ['<meta/charset=koi8-r/>', undefined],
    ['<meta/charset="koi8-r"/>', 'koi8-r'],
    ['<meta name=x charset=koi8-r>', 'koi8-r'],
    ['<meta charset=koi8-r charset=utf-8>', 'koi8-r'],
    ['<meta a="<meta charset=utf-8>" charset=koi8-r>', 'koi8-r'],
    ['<metacharset=koi8-r>', undefined],
    ['<meta charset=koi8-r', undefined],
    ['<meta charset="koi8-r>', undefined],
    ['<meta =charset=koi8-r>', undefined],
    ['<meta charset>', undefined],
    ['<meta charset==koi8-r>', undefined],
    ['<meta charset=x-none><meta charset=koi8-r>', 'koi8-r'],
  ])('the charset attribute: %s', (html, encoding) => {
    expect(prescan(html).encoding).toBe(encoding);
  });

  test.each([
    ['<meta http-equiv=Content-Type content="text/html; charset=koi8-r">', 'koi8-r'],
    ['<meta content="text/html; charset=koi8-r" http-equiv="content-type">', 'koi8-r'],
    ['<meta content="text/html; charset=koi8-r">', undefined],
    ['<meta http-equiv=refresh content="0; charset=koi8-r">', undefined],
    ['<meta http-equiv=content-type content="charset = \'koi8-r\' x">', 'koi8-r'],
    ['<meta http-equiv=content-type content="charset charset=koi8-r">', 'koi8-r'],
    ["<meta http-equiv=content-type content='charset=\"koi8-r'>", undefined],
    ['<meta http-equiv=content-type content="charset=koi8-r;x">', 'koi8-r'],
    ['<meta http-equiv=content-type content="charset=utf-8" charset=koi8-r>', 'koi8-r'],
    ['<meta http-equiv=content-type content=text/html>', undefined],
  ])('the pragma: %s', (html, encoding) => {
    expect(prescan(html).encoding).toBe(encoding);
  });

  test.each([
    ['<!-- <meta charset=utf-8> --><meta charset=koi8-r>', 'koi8-r'],
    ['<!--><meta charset=koi8-r>', 'koi8-r'],
    ['<!---><meta charset=koi8-r>', 'koi8-r'],
    ['<!-- <meta charset=koi8-r>', undefined],
    ['<!doctype html><html lang="<meta charset=utf-8>"><meta charset=koi8-r>', 'koi8-r'],
    ['<p title=\'<meta charset=utf-8>\'></p a="<meta charset=utf-8>"><meta charset=koi8-r>', 'koi8-r'],
    ['<?php "<meta charset=koi8-r>" ?>', undefined],
    ['< meta charset=koi8-r>', undefined],
    ['1 < 2 <b<meta charset=koi8-r>', undefined],
    ['<script>"</b><meta charset=koi8-r>"', 'koi8-r'],
  ])('what is skipped: %s', (html, encoding) => {
    expect(prescan(html).encoding).toBe(encoding);
  });

  test('UTF-16 in a meta element means UTF-8, x-user-defined means windows-1252', () => {
    expect(prescan('<meta charset=utf-16>').encoding).toBe('utf-8');
    expect(prescan('<meta charset=utf-16be>').encoding).toBe('utf-8');
    expect(prescan('<meta charset=x-user-defined>').encoding).toBe('windows-1252');
  });

  test('the XML declaration counts where no meta element does', () => {
    expect(prescan('<?xml version="1.0" encoding="koi8-r"?><html/>').encoding).toBe('koi8-r');
    expect(prescan("<?xml encoding = 'utf-16'?>").encoding).toBe('utf-8');
    expect(prescan('<?xml encoding="koi8-r"?><meta charset=utf-8>').encoding).toBe('utf-8');
    expect(prescan(' <?xml encoding="koi8-r"?>').encoding).toBeUndefined();
    expect(prescan('<\0?\0x\0m\0').encoding).toBe('utf-16le');
    expect(prescan('\0<\0?\0x\0m').encoding).toBe('utf-16be');
  });

  test('ruling C4 the first 1,024 bytes only', () => {
    const meta = '<meta charset=koi8-r>';
    expect(prescan(`${' '.repeat(1024 - meta.length)}${meta}`).encoding).toBe('koi8-r');
    expect(prescan(`${' '.repeat(1025 - meta.length)}${meta}`).encoding).toBeUndefined();
  });

  test('unknown is said only where nothing known was declared', () => {
    expect(prescan('<meta charset=x-none>')).toEqual({encoding: undefined, unknown: true});
    expect(prescan('<meta charset=x-none><meta charset=utf-8>')).toEqual({encoding: 'utf-8', unknown: false});
    expect(prescan('<p>charset=x-none')).toEqual({encoding: undefined, unknown: false});
  });

  test('property: ends on any input', () => {
    const piece = fc.constantFrom(
      '<',
      '<meta ',
      '<!--',
      '-->',
      '/',
      '>',
      '=',
      '"',
      "'",
      'charset',
      'content',
      ' ',
      'a',
      '<?',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(piece, {maxLength: 200}), pieces => {
        prescan(pieces.join(''));
      }),
      {numRuns: 1000},
    );
  });
});
