import {createHash} from 'node:crypto';
import {normalizeEncoding} from '@exodus/bytes/encoding.js';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {decodeText, prescanCharset} from './charset.ts';

function hex(digits: string): Uint8Array {
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'));
}

function decodeAs(label: string, bytes: Uint8Array): string {
  return decodeText(bytes, {headerCharset: label, html: false}).text;
}

/** Written by other encoders than the decoders under test (CPython's codecs). */
const SAMPLES: readonly (readonly [encoding: string, bytes: string, text: string])[] = [
  ['ibm866', '8fe0a8a2a5e22c20fc', 'Привет, №'],
  ['iso-8859-2', '50f8ed6c69b920be6c75bb6f75e86bfd', 'Příliš žluťoučký'],
  ['iso-8859-3', 'c66975bc61fd646520f86f6a6173', 'Ĉiuĵaŭde ĝojas'],
  ['iso-8859-4', 'a9f3ba72657320f1656d', 'Šķēres ņem'],
  ['iso-8859-5', 'bfe0d8d2d5e22c20f3', 'Привет, ѓ'],
  ['iso-8859-6', 'e5d1cdc8c7', 'مرحبا'],
  ['iso-8859-7', 'c3e5e9dc20f3eff520a4', 'Γειά σου €'],
  ['iso-8859-8', 'f9ece5ed', 'שלום'],
  ['iso-8859-8-i', 'f9ece5ed', 'שלום'],
  ['iso-8859-10', 'cae720fee6bf', 'Ęį þæŋ'],
  ['iso-8859-13', 'c0fe756f6c617320a5edb4', 'Ąžuolas „ķ“'],
  ['iso-8859-14', 'a8f020a2a5', 'Ẁŵ ḃċ'],
  ['iso-8859-15', 'a420bd7576726520b4b8', '€ œuvre Žž'],
  ['iso-8859-16', 'de6172e320ba7469696efee320a5a4b5', 'Țară știință „€”'],
  ['koi8-r', 'f0d2c9d7c5d4', 'Привет'],
  ['koi8-u', 'b7d6c1cb20adc1cecfcb', 'Їжак ґанок'],
  ['macintosh', 'ae7468657220d26e61957665d320db', 'Æther “naïve” €'],
  ['windows-874', 'cac7d1cab4d52080', 'สวัสดี €'],
  ['windows-1250', '50f8ed6c699a20808493', 'Příliš €„“'],
  ['windows-1251', 'cff0e8e2e5f22090', 'Привет ђ'],
  [
    'windows-1252',
    '8082838485868788898a8b8c8e9192939495969798999a9b9c9e9f20ff',
    '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ ÿ',
  ],
  ['windows-1253', 'c3e5e9dc20f3eff520a9', 'Γειά σου ©'],
  ['windows-1254', 'dd7374616e62756c20f0fdfe', 'İstanbul ğış'],
  ['windows-1255', 'f9ece5ed20a4', 'שלום ₪'],
  ['windows-1256', 'd3e1c7e320818d8e', 'سلام پچژ'],
  ['windows-1257', 'cdee6c6520fe2080', 'Ķīle ž €'],
  ['windows-1258', 'c320f520fe', 'Ă ơ ₫'],
  ['x-mac-cyrillic', '8ff0e8e2e5f220dd', 'Привет Ё'],
  ['gbk', 'c4e3bac3a3accac0bde787e5', '你好，世界囧'],
  ['gb18030', 'c4e3bac395328236a2e3', '你好𠀀€'],
  ['big5', 'a741a66e9def9df89bd0', '你好嘅啲𠝹'],
  ['euc-jp', 'c6fccbdcb8ec8eb18fb0a1', '日本語ｱ丂'],
  ['iso-2022-jp', '1b2442467c4b5c386c1b2842206f6b', '日本語 ok'],
  ['shift_jis', '93fa967b8ceab18740', '日本語ｱ①'],
  ['euc-kr', 'bec8b3e7208c63b9e6b0a2c7cf2094ee', '안녕 똠방각하 뷁'],
  ['utf-16be', '006800690020d83dde00', 'hi 😀'],
  ['utf-16le', '6800690020003dd800de', 'hi 😀'],
  ['utf-8', '686920f09f9880', 'hi 😀'],
  ['x-user-defined', '4180ff', 'A\uf780\uf7ff'],
];

/** SHA-256, first 8 bytes, of what `everySequence` decodes to by the indexes of the standard. */
const FINGERPRINTS: readonly (readonly [encoding: string, sha256: string])[] = [
  ['ibm866', '564dd98e25aae8e1'],
  ['iso-8859-2', '479099b1f0e95f18'],
  ['iso-8859-3', '7608f99e4aa61c79'],
  ['iso-8859-4', '6cef4047784ef413'],
  ['iso-8859-5', '9515eb51174f53aa'],
  ['iso-8859-6', 'ce9530c6a5bf0b5b'],
  ['iso-8859-7', 'e82327dac046abf6'],
  ['iso-8859-8', '9d6e30bd2a8f62dd'],
  ['iso-8859-8-i', '9d6e30bd2a8f62dd'],
  ['iso-8859-10', '49b5e0890be0a616'],
  ['iso-8859-13', 'eb4eb69d38941d86'],
  ['iso-8859-14', '6812c1a526851309'],
  ['iso-8859-15', 'c39f1c98b16c1607'],
  ['iso-8859-16', '857c4266cffc645e'],
  ['koi8-r', '80d5c932e50a4712'],
  ['koi8-u', '92c29fe8a1d09269'],
  ['macintosh', '5ec07680b0c3240c'],
  ['windows-874', 'ed6a47624bae65a6'],
  ['windows-1250', '943afb92eecabbe4'],
  ['windows-1251', '969cedb64e73fa9d'],
  ['windows-1252', '84989276ca2ac42b'],
  ['windows-1253', 'c3a579f60ccfa737'],
  ['windows-1254', 'e378caad4396726a'],
  ['windows-1255', 'ea822fe6db7031a6'],
  ['windows-1256', '18c696deb428e1a8'],
  ['windows-1257', 'a809bc7f80ff7029'],
  ['windows-1258', '4e74be5de82e51e3'],
  ['x-mac-cyrillic', 'f232c85f8d6b7afe'],
  ['x-user-defined', 'bc0d9e6c40b9c674'],
  ['gbk', '88a5a037f8fa3c60'],
  ['gb18030', '88a5a037f8fa3c60'],
  ['big5', '0c672bca4c971fd7'],
  ['euc-jp', '2a4f9ae909384296'],
  ['iso-2022-jp', 'b356164e2ec5f46f'],
  ['shift_jis', 'eac080fc4aa0aa34'],
  ['euc-kr', '94c54693eea93c5f'],
];

/** Each byte, and each pair that starts with a high byte, on a line of its own. */
function everySequence(encoding: string): Uint8Array {
  const bytes: number[] = [];
  for (let byte = 0; byte < 256; byte += 1) bytes.push(byte, 0x0a);
  for (let lead = 0x80; lead < 256; lead += 1) {
    for (let trail = 0x20; trail < 256; trail += 1) bytes.push(lead, trail, 0x0a);
  }
  for (let row = 0x21; row < 0x7f; row += 1) {
    for (let cell = 0x21; cell < 0x7f; cell += 1) {
      if (encoding === 'iso-2022-jp') bytes.push(0x1b, 0x24, 0x42, row, cell, 0x1b, 0x28, 0x42, 0x0a);
      if (encoding === 'euc-jp') bytes.push(0x8f, row | 0x80, cell | 0x80, 0x0a);
    }
  }
  return Uint8Array.from(bytes);
}

describe('WHATWG encodings', () => {
  test.each(SAMPLES)('ruling C4 %s', (encoding, bytes, text) => {
    expect(decodeText(hex(bytes), {headerCharset: encoding, html: false})).toEqual({text, fallback: false});
  });

  test.each(FINGERPRINTS)(
    'WHATWG Encoding §5 %s, every sequence of one and two bytes',
    (encoding, sha256) => {
      const text = decodeAs(encoding, everySequence(encoding));
      expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toBe(sha256);
    },
  );

  test('every encoding but replacement is in both tables', () => {
    const covered = [...FINGERPRINTS.map(([name]) => name), 'utf-8', 'utf-16be', 'utf-16le'];
    expect(new Set(covered)).toEqual(new Set(SAMPLES.map(([name]) => name)));
    expect(covered).toHaveLength(39);
  });

  test('nodejs/node#60888 windows-1252 is not Latin-1', () => {
    expect(decodeAs('iso-8859-1', hex('80'))).toBe('€');
    expect(decodeAs('windows-1252', hex('818d8f909d'))).toBe('\u0081\u008d\u008f\u0090\u009d');
    expect(decodeAs('ascii', hex('93e994'))).toBe('“é”');
  });

  test('WHATWG Encoding §14.1 replacement gives one U+FFFD, and says so', () => {
    for (const label of ['iso-2022-kr', 'hz-gb-2312', 'ISO-2022-CN']) {
      expect(decodeText(latin1('<b>text</b>'), {headerCharset: label, html: true})).toEqual({
        text: '\ufffd',
        fallback: true,
      });
    }
    expect(decodeText(hex(''), {headerCharset: 'replacement', html: true}).text).toBe('');
  });

  test.each([
    ['shift_jis', '8241'],
    ['shift_jis', '81'],
    ['euc-jp', '8fa1'],
    ['euc-jp', 'b0'],
    ['euc-kr', 'c8'],
    ['big5', '81'],
    ['gbk', '81'],
    ['iso-2022-jp', '1b2442'],
  ])('policy: in %s the markup after a broken sequence %s stays markup', (encoding, broken) => {
    const tail = encoding === 'iso-2022-jp' ? '1b2842' : '';
    const text = decodeAs(encoding, hex(`${broken}${tail}${Buffer.from('<script>').toString('hex')}`));
    expect(text.endsWith('<script>')).toBe(true);
  });

  test('property: nothing throws, and ASCII survives in every encoding that contains it', () => {
    const encodings = SAMPLES.map(([name]) => name);
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 40}), fc.constantFrom(...encodings), (bytes, encoding) => {
        expect(typeof decodeAs(encoding, bytes)).toBe('string');
        if (encoding.startsWith('utf-16') || encoding === 'iso-2022-jp') return;
        const ascii = bytes.filter(byte => byte < 0x80);
        expect(decodeAs(encoding, ascii)).toBe(Buffer.from(ascii).toString('latin1'));
      }),
      {numRuns: 1000},
    );
  });
});

describe('labels', () => {
  /** What this runtime has no decoder for, from the standard. */
  const OWN = {
    'iso-8859-16': ['iso-8859-16'],
    replacement: [
      'csiso2022kr',
      'hz-gb-2312',
      'iso-2022-cn',
      'iso-2022-cn-ext',
      'iso-2022-kr',
      'replacement',
    ],
    'x-user-defined': ['x-user-defined'],
  };

  /** The labels of §4.2 that the runtime knows, to be looked up there. */
  const SHARED =
    `unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8 866 cp866 csibm866 ibm866
    csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
    csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
    csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
    csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
    arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i
    iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
    csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7
    iso_8859-7:1987 sun_eu_greek csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138
    iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical
    csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6 iso-8859-13 iso8859-13 iso885913
    iso-8859-14 iso8859-14 iso885914 csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
    cskoi8r koi koi8 koi8-r koi8_r koi8-ru koi8-u csmacintosh mac macintosh x-mac-roman
    dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874 cp1250 windows-1250 x-cp1250
    cp1251 windows-1251 x-cp1251 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100
    iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
    cp1253 windows-1253 x-cp1253 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9
    iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254 cp1255 windows-1255 x-cp1255 cp1256 windows-1256 x-cp1256
    cp1257 windows-1257 x-cp1257 cp1258 windows-1258 x-cp1258 x-mac-cyrillic x-mac-ukrainian
    chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030
    big5 big5-hkscs cn-big5 csbig5 x-x-big5 cseucpkdfmtjapanese euc-jp x-euc-jp csiso2022jp iso-2022-jp
    csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
    cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
    unicodefffe utf-16be csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le`.split(/\s+/);

  test('ruling C4 all 228 labels of WHATWG Encoding §4.2', () => {
    expect(SHARED.length + Object.values(OWN).flat().length).toBe(228);
    for (const label of SHARED)
      expect([label, normalizeEncoding(label)]).toEqual([label, new TextDecoder(label).encoding]);
    for (const [encoding, labels] of Object.entries(OWN)) {
      for (const label of labels) expect([label, normalizeEncoding(label)]).toEqual([label, encoding]);
    }
  });

  test('FR-WF-CHARSET-01 case and outer blanks do not matter, anything else does', () => {
    expect(normalizeEncoding(' \t\r\n\fISO-8859-1 ')).toBe('windows-1252');
    for (const label of [
      '',
      ' ',
      'utf',
      'utf 8',
      'utf-8;',
      '\u00a0utf-8',
      '\vutf-8',
      'constructor',
      'utf-7',
      'utf-32',
    ]) {
      expect([label, normalizeEncoding(label)]).toEqual([label, null]);
    }
    expect(normalizeEncoding(`${' '.repeat(1_000_000)}utf-8${' '.repeat(1_000_000)}x`)).toBeNull();
  });
});

describe('precedence', () => {
  const page = (meta: string) => latin1(`<!doctype html>${meta}<p>caf\xe9 \x80`);

  test('FR-WF-CHARSET-02 header over meta', () => {
    const bytes = page('<meta charset=utf-8>');
    expect(decodeText(bytes, {headerCharset: 'iso-8859-1', html: true}).text).toContain('café €');
  });

  test('FR-WF-CHARSET-02 meta where the header has no charset, in HTML only', () => {
    const bytes = page('<meta charset="windows-1252">');
    expect(decodeText(bytes, {html: true})).toEqual({
      text: expect.stringContaining('café €'),
      fallback: false,
    });
    expect(decodeText(bytes, {html: false}).text).toContain('caf\ufffd \ufffd');
    expect(decodeText(bytes, {headerCharset: ' ', html: true}).text).toContain('café €');
  });

  test('ruling C4 an unknown header label is UTF-8 with the note, without asking meta', () => {
    expect(decodeText(page('<meta charset=windows-1252>'), {headerCharset: 'x-unknown', html: true})).toEqual(
      {
        text: expect.stringContaining('caf\ufffd \ufffd'),
        fallback: true,
      },
    );
  });

  test('FR-WF-CHARSET-02 an unknown meta label is UTF-8 with the note', () => {
    expect(decodeText(page('<meta charset=x-unknown>'), {html: true})).toMatchObject({fallback: true});
  });

  test('FR-WF-10i without any declaration it is UTF-8, and no note', () => {
    expect(decodeText(page(''), {html: true})).toMatchObject({fallback: false});
    expect(decodeText(new Uint8Array(), {html: true})).toEqual({text: '', fallback: false});
  });

  test('ruling C4 the BOM wins over header and meta, and is not part of the text', () => {
    const options = {headerCharset: 'x-unknown', html: true};
    expect(decodeText(hex('efbbbf c3a9'.replaceAll(' ', '')), options)).toEqual({text: 'é', fallback: false});
    expect(decodeText(hex('fffee900'), options).text).toBe('é');
    expect(decodeText(hex('feff00e9'), options).text).toBe('é');
    expect(decodeText(hex('efbbbfefbbbf41'), options).text).toBe('\ufeffA');
    expect(decodeText(hex('efbb'), {html: false}).text).toBe('\ufffd');
  });
});

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
