import {decodeText} from '../../../dist/web/transport/charset.js';
import {parseContentType, sniffMedia} from '../../../dist/web/transport/media.js';
import {expectThat} from '../expect-that.js';

// biome-ignore format: a list
const LABELS = [
  'utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-2', 'koi8-r', 'macintosh', 'x-user-defined',
  'shift_jis', 'euc-jp', 'euc-kr', 'big5', 'gbk', 'gb18030', 'iso-2022-jp', 'replacement', 'no-such-label',
];
/** Those that the platform decodes as the standard says. */
const BY_PLATFORM = new Set(['utf-8', 'utf-16le', 'utf-16be', 'koi8-r', 'gb18030']);

/** FR-WF-10i, ruling C4: any bytes are text under any label, well-formed, and no longer than they can be. */
function check(bytes) {
  const label = LABELS[(bytes[0] ?? 0) % LABELS.length];
  const body = bytes.subarray(1);
  for (const options of [{html: true}, {html: false}, {html: true, headerCharset: label}]) {
    const {text} = decodeText(body, options);
    expectThat(text.isWellFormed(), 'half a character', label);
    expectThat(
      text.length <= Math.max(1, body.length),
      'more text than bytes',
      label,
      text.length,
      body.length,
    );
  }
  const {text} = decodeText(body, {html: false, headerCharset: label});
  const isMarked = /^(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe)/.test(
    Buffer.from(body.subarray(0, 3)).toString('latin1'),
  );
  if (BY_PLATFORM.has(label) && !isMarked) {
    const expected = new TextDecoder(label, {ignoreBOM: true}).decode(body);
    expectThat(text === expected, 'the platform reads otherwise', label, text, expected);
  }
  const header = Buffer.from(body).toString('latin1');
  const {charset} = parseContentType([header]);
  if (charset !== undefined) decodeText(body, {html: true, headerCharset: charset});
  sniffMedia(body, {accepts: new Set(['markdown', 'json', 'feed', 'pdf'])});
}

export const target = {
  check,
  modules: ['/dist/web/transport/charset'],
  maxLength: 2048,
  seeds: [
    '\0<meta charset="utf-8">é',
    '\0<!-- c --><meta http-equiv="content-type" content="text/html; charset=shift_jis"><p>',
    '\0text/html; charset="euc-jp"; x=y',
    new Uint8Array([8, 0x82, 0xa0, 0x83, 0x40, 0x80, 0xff]),
    new Uint8Array([9, 0x8f, 0xa2, 0xaf, 0x8e, 0xb1, 0xa4, 0xa2]),
    new Uint8Array([11, 0x88, 0x62, 0x88, 0xa5, 0xa4, 0x40]),
    new Uint8Array([13, 0x81, 0x30, 0x81, 0x30, 0x84, 0x31, 0xa4, 0x37]),
    new Uint8Array([14, 0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x4a, 0x5c]),
    new Uint8Array([1, 0xff, 0xfe, 0x3d, 0xd8, 0x00, 0xde, 0x3d]),
  ],
  tokens: [
    ...[
      '<meta ',
      'charset=',
      'http-equiv=',
      'content-type',
      'content=',
      '"',
      "'",
      '>',
      '/>',
      '<!--',
      '-->',
      '<!',
      '<?',
    ],
    ...[
      'text/html',
      ';',
      ' charset="',
      'utf-16',
      'x-user-defined',
      'big5',
      '%PDF',
      'ftyp',
      '\0',
      '</',
      '<a href=">',
    ],
    ...[
      [0xef, 0xbb, 0xbf],
      [0xfe, 0xff],
      [0xff, 0xfe],
      [0x1b, 0x24, 0x42],
      [0x1b, 0x28, 0x42],
      [0x1b, 0x28, 0x49],
      [0x81, 0x30, 0x81],
      [0xd8, 0x00],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90],
      [0x8f],
      [0xa1, 0xa1],
      [0xfe, 0xfe],
    ].map(one => new Uint8Array(one)),
  ],
};
