/** Makes a document of about `size` characters that is as hard as its kind can be. */
export type Structure = (size: number) => string;

const times = (unit: string, size: number): string => unit.repeat(Math.max(1, Math.ceil(size / unit.length)));
/** Opened so often, closed as often. */
const nested = (open: string, close: string, size: number, inner = 'x'): string => {
  const count = Math.max(1, Math.floor(size / (open.length + close.length)));
  return open.repeat(count) + inner + close.repeat(count);
};
/** Units that differ by their number. */
const numbered = (unit: (number: number) => string, size: number): string => {
  const parts: string[] = [];
  let length = 0;
  for (let number = 0; length < size; number += 1) {
    const part = unit(number);
    parts.push(part);
    length += part.length;
  }
  return parts.join('');
};
const within = (open: string, close: string, inner: string): string => open + inner + close;

export const HTML_STRUCTURES: Readonly<Record<string, Structure>> = {
  // Depth
  'div in div': size => nested('<div>', '</div>', size),
  'div never closed': size => times('<div>', size),
  'div never opened': size => times('</div>', size),
  'p never closed in div': size => times('<div><p>x', size),
  'list in item in list': size => nested('<ul><li>', '</li></ul>', size),
  'list in item in list, with text': size => nested('<ul><li>x', 'y</li></ul>', size),
  'ordered lists, never closed': size => times('<ol><li>x', size),
  'quote in quote': size => nested('<blockquote>', '</blockquote>', size),
  'quote in item in quote': size => times('<blockquote><ul><li>x', size),
  'definition lists': size => times('<dl><dt>x<dd>', size),
  'span in span': size => nested('<span>', '</span>', size),
  'bold in bold': size => nested('<b>', '</b>', size),
  'kinds of emphasis in each other': size => times('<b><i><em><strong><u><s><small>x', size),
  'svg in svg': size => nested('<svg><g>', '</g></svg>', size),
  'math in svg in math': size => times('<math><mi><svg><foreignObject>', size),
  'template in template': size => nested('<template>', '</template>', size),
  'details in details': size => nested('<details><summary>x</summary>', '</details>', size),
  ruby: size => times('<ruby>x<rt>y<rp>', size),
  // Inline styles
  'no size in no size': size => nested('<div style="font-size:0">x<p>x', '</div>', size),
  'a style of digits': size => `<p style="font-size:${times('1', size)}!x">x`,
  'a style of blanks': size => `<p style="display:none${times(' ', size)}x">x`,
  'a style of openings': size => `<p style="display:none;color:${times('url(rgb(', size)}">x`,
  'a style of variables': size => `<p style="--x:${'y'.repeat(90)};display:${times('var(--x,', size)}">x`,
  // Formatting elements that are left open, and the adoption agency
  'a, never closed': size => times('<a href=x>x', size),
  'a, never closed, of different targets': size => numbered(number => `<a href=/${number}>x`, size),
  'b, never closed, of different attributes': size => numbered(number => `<b id=${number}>`, size),
  'font, never closed, in paragraphs': size => numbered(number => `<p><font color=${number % 997}>x`, size),
  'many formatting elements, then blocks': size =>
    times('<b><i><u><a>', size / 2) + times('<p>x</p>', size / 2),
  'misnested b and p': size => times('<b><p></b></p>x', size),
  'misnested a and div': size => times('<a><div></a>x', size),
  'misnested i, b and table': size => times('<i><table><b><tr><td></i></b>', size),
  'a, b, i closed in the order of opening': size => times('<a><b><i>x</a></b></i>', size),
  'nobr in nobr': size => times('<nobr>x<div>', size),
  'applet, marquee, object': size => times('<b><object><i><marquee>', size),
  'form in form': size => times('<form><div></form>', size),
  'button in button': size => times('<button><b>', size),
  'headings in headings': size => times('<h1><h2><b>', size),
  // Tables
  'table in cell in table': size => nested('<table><tr><td>', '</td></tr></table>', size),
  'table in cell in table, never closed': size => times('<table><tr><td>', size),
  'table in table': size => times('<table>', size),
  'text out of place in a table': size => `<table>${times('x<tr>y', size)}`,
  'elements out of place in a table': size => `<table>${times('<b>x', size)}`,
  'elements out of place in tables': size => times('<table><b>x', size),
  rows: size => within('<table>', '</table>', times('<tr><td>x<td>y', size)),
  'one row of many cells': size => within('<table><tr>', '</table>', times('<td>x', size)),
  'one wide row, then narrow ones': size =>
    `<table><tr>${times('<td>x', size / 2)}${times('<tr><td>y', size / 2)}</table>`,
  'cells that say how far they reach': size =>
    within('<table>', '</table>', times('<tr><td colspan=1000 rowspan=65534>x', size)),
  'captions and columns': size => within('<table>', '</table>', times('<caption>x<colgroup><col>', size)),
  'select in table': size => times('<table><tr><td><select><option>', size),
  // Attributes and tags
  'attributes on one tag': size =>
    within(
      '<p ',
      '>x',
      numbered(number => `a${number}=1 `, size),
    ),
  'the same attribute on one tag': size => within('<p ', '>x', times('class=x ', size)),
  'attributes on html and body': size => numbered(number => `<html a${number}=1><body b${number}=2>`, size),
  'classes on one tag': size =>
    within(
      '<div class="',
      '">x',
      numbered(number => `c${number} `, size),
    ),
  'a long class on many tags': size => times(`<div class="${'nav-x '.repeat(50)}">x</div>`, size),
  'one long attribute': size => within('<a href="', '">x</a>', times('x', size)),
  'one long tag name': size => within('<', '>x', times('x', size)),
  'a tag that never ends': size => `<p ${times('a="', size)}`,
  'styles that nearly hide': size => times('<p style="display:;display:none;;;visibility:x">x', size),
  // Characters
  entities: size => within('<p>', '</p>', times('&amp;', size)),
  'entities without an end': size => within('<p>', '</p>', times('&notit', size)),
  'numeric entities': size => within('<p>', '</p>', times('&#x1f600;', size)),
  'one long numeric entity': size => within('<p>&#', ';</p>', times('1', size)),
  ampersands: size => within('<p>', '</p>', times('&', size)),
  'less-than signs': size => within('<p>', '</p>', times('<', size)),
  NULs: size => within('<p>', '</p>', times('\0', size)),
  'carriage returns': size => within('<pre>', '</pre>', times('\r', size)),
  'invisible characters': size => within('<p>', '</p>', times('\u200b\u{e0041}', size)),
  'combining characters': size => within('<p>', '</p>', times('\u0301', size)),
  'joined emoji': size => within('<p>', '</p>', times('👩\u200d', size)),
  // Comments and the like
  comments: size => times('<!--x-->', size),
  'a comment that never ends': size => `<p>x</p><!--${times('-', size)}`,
  'comment ends that are none': size => `<p>x</p><!--${times('--!->', size)}-->`,
  'bogus comments': size => times('<?x></ >', size),
  doctypes: size => times('<!DOCTYPE html>', size),
  CDATA: size => `<svg>${times('<![CDATA[x]]>', size)}`,
  'script that never ends': size => `<p>x</p><script>${times('<!--<script>', size)}`,
  'textarea that never ends': size => `<p>x</p><textarea>${times('</textare', size)}`,
  'style that never ends': size => `<p>x</p><style>${times('</styl', size)}`,
  titles: size => times('<title>x</title>', size),
  'one long title': size => within('<title>', '</title><p>x', times('x ', size)),
  frameset: size => times('<frameset><frame>', size),
  plaintext: size => `<plaintext>${times('<b>', size)}`,
  // Blocks and inlines that the Markdown is made of
  paragraphs: size => times('<p>x', size),
  'empty paragraphs': size => `${times('<p></p>', size)}<p>x`,
  'one line of text': size => within('<p>', '</p>', times('word ', size)),
  'one word': size => within('<p>', '</p>', times('x', size)),
  blanks: size => within('<p>', '</p>', times(' ', size)),
  'no-break spaces': size => within('<p>', '</p>', times('\u00a0', size)),
  'line breaks': size => within('<p>', '</p>', times('x<br>', size)),
  'line breaks alone': size => within('<p>x', 'x</p>', times('<br>', size)),
  links: size => numbered(number => `<a href="/page/${number}">x</a> `, size),
  'links to the same place': size => times('<a href="/p">x</a> ', size),
  'links of one long target, never closed': size => `<a href="/${'x'.repeat(2000)}">${times('<p>y', size)}`,
  images: size => times('<img src=i alt=x>', size),
  headings: size => times('<h2>x</h2>', size),
  rules: size => times('<hr>x', size),
  'select with many options': size => within('<p>x</p><select>', '</select>', times('<option>x', size)),
  'list items': size => within('<ul>', '</ul>', times('<li>x', size)),
  'code spans': size => within('<p>', '</p>', times('<code>`</code> ', size)),
  'code of growing runs of backticks': size =>
    within(
      '<p><code>',
      '</code></p>',
      numbered(number => `${'`'.repeat((number % 300) + 1)} `, size),
    ),
  'empty emphasis': size => within('<p>x', 'x</p>', times('<b></b><i> </i>', size)),
  'emphasis between letters': size => within('<p>', '</p>', times('x<b>y</b>', size)),
  'emphasis with blanks at its edges': size => within('<p>', '</p>', times('<b> x </b><i> y </i>', size)),
  asterisks: size => within('<p>', '</p>', times('*', size)),
  'asterisks and letters': size => within('<p>', '</p>', times('*a_b~', size)),
  'underscores that open and close': size => within('<p>', '</p>', times('_a _b ', size)),
  brackets: size => within('<p>', '</p>', times('[', size)),
  'brackets that close': size => within('<p>', '</p>', times('](', size)),
  'brackets in a link': size => within('<p><a href=x>', '</a></p>', times('[](', size)),
  backticks: size => within('<p>', '</p>', times('`', size)),
  'backticks and letters': size => within('<p>', '</p>', times('`a``b', size)),
  backslashes: size => within('<p>', '</p>', times('\\', size)),
  'fences in a fence': size => within('<pre>', '</pre>', times('```\n', size)),
  'one line of code': size => within('<pre>', '</pre>', times('x', size)),
  'empty lines of code': size => within('<pre>x', 'x</pre>', times('\n', size)),
  'pipes in a cell': size => within('<table><tr><th>h<tr><td>', '</table>', times('|', size)),
  'digits and dots': size => within('<p>', '</p>', times('1.<br>', size)),
  'equals signs': size => within('<p>x<br>', '</p>', times('=', size)),
  'hidden elements': size => times('<p hidden>x<p style="display:none">y', size),
  boilerplate: size => `${times('<nav><a href=x>x</a></nav><div class="sidebar">x</div>', size)}<p>x`,
  'main in main': size => nested('<main>', '</main>', size),
  'empty roots': size => times('<main></main><article></article>', size),
};

/** What the chunker and the counter get, and what `text/plain` hands to them unchanged. */
export const TEXT_STRUCTURES: Readonly<Record<string, Structure>> = {
  'one letter': size => times('a', size),
  'one capital': size => times('A', size),
  blanks: size => times(' ', size),
  'line ends': size => times('\n', size),
  'blank lines and letters': size => times('\n\nx', size),
  'tabs and line ends': size => times('\t\n', size),
  digits: size => times('1', size),
  punctuation: size => times('!', size),
  apostrophes: size => times("'s", size),
  'letters of no script': size => times('\u{10ffff}', size),
  emoji: size => times('😀', size),
  ideographs: size => times('漢', size),
  'combining characters': size => times('a\u0301', size),
  'two letters': size => times('ab', size),
  'a period of prime length': size => times('abcdefghijklmnopqrstuvwxyzabcdefghijk', size),
  'one sentence': size => times('word ', size),
  sentences: size => times('A b. ', size),
  'one line of code': size => within('```\n', '\n```', times('x', size)),
  'lines of code': size => within('```\n', '\n```', times('x\n', size)),
  'a fence that never ends': size => `\`\`\`\n${times('x y\n', size)}`,
  fences: size => times('```\n', size),
  headings: size => times('# x\n\n', size),
  rules: size => times('---\n\n', size),
  'list items': size => times('- x\n', size),
  'deep list items': size => numbered(number => `${' '.repeat(number % 400)}- x\n`, size),
  'table rows': size => `|a|b|\n|---|---|\n${times('|x|y|\n', size)}`,
  quotes: size => times('> ', size),
  'special tokens': size => times('<|endoftext|>', size),
  'a base64 line': size => numbered(number => (number * 2_654_435_761).toString(36), size),
  'bytes of all kinds': size =>
    numbered(number => String.fromCodePoint(0x20 + ((number * 7919) % 0xd000)), size),
};

const inFeed = (inside: string): string => `<rss><channel><title>T</title>${inside}</channel></rss>`;
const inItem = (inside: string): string => inFeed(`<item><title>A</title>${inside}</item>`);

/** Attributes, names and text of a feed. */
export const FEED_STRUCTURES: Readonly<Record<string, Structure>> = {
  'root attribute without a value': size => `<rss ${times('a', size)}></rss>`,
  'root attributes without a value': size => `<rss ${times('a ', size)}></rss>`,
  'field attribute without a value': size => inFeed(`<item><title ${times('a', size)}>A</title></item>`),
  'blanks behind an attribute': size => inFeed(`<item><title a${times(' ', size)}>A</title></item>`),
  'blanks behind attributes and "="': size =>
    inFeed(`<item><title ${times('a   =   ', size)}>A</title></item>`),
  'attributes of the other quote': size =>
    inFeed(`<item><title ${times(`a="'"b'"'`, size)}>A</title></item>`),
  'different attributes': size => inFeed(`<item><link ${numbered(at => `a${at}="" `, size)}/></item>`),
  'long value of an attribute': size => inFeed(`<item><link href="${times('&amp;', size)}"/></item>`),
  'long name': size => inFeed(`<${times('a', size / 2)}></${times('a', size / 2)}>`),
  'name of colons': size => inFeed(`<${times('a:', size / 2)}></${times('a:', size / 2)}>`),
  'document types': size => times('<!DOCTYPE a [<!ENTITY b "c">]>', size) + inItem(''),
  'entities that are not declared': size => inItem(`<description>${times('&a19;', size)}</description>`),
  'text of brackets': size => inItem(`<description>${times('&lt;', size)}</description>`),
  'title of tags': size => inFeed(`<item><title type="html">${times('&lt;a', size)}</title></item>`),
  'title that is long': size => inFeed(`<item><title>${times('word ', size)}</title></item>`),
  'text of tags in CDATA': size => inItem(`<description><![CDATA[${times('<b>', size)}]]></description>`),
  'many CDATA': size => inItem(`<description>${times('<![CDATA[x]]>', size)}</description>`),
  comments: size => inItem(times('<!---->', size)),
  'elements in the text': size => inItem(`<content type="xhtml">${times('<b/>x', size)}</content>`),
  'titles again and again': size => inFeed(times('<title>x</title>', size)),
  entries: size =>
    inFeed(
      times('<item><title>A</title><link>https://e.com/</link><description>x</description></item>', size),
    ),
};

/** What a sitemap repeats. */
export const SITEMAP_STRUCTURES: Readonly<Record<string, Structure>> = {
  'names without end': size => times(`<${'a'.repeat(1050)}`, size),
  'one name without end': size => `<${times('a', size)}`,
  'names with a prefix': size => times(`<${'a'.repeat(60)}:${'b'.repeat(60)}`, size),
  prefixes: size => times('<a:', size),
  'attributes without end': size => times(`<loc ${'a'.repeat(990)}`, size),
  'attributes of an index': size => times('<sitemapindex a="b"', size),
  addresses: size => times('<loc>https://e.com/</loc>', size),
  'an address without end': size => `<loc>${times('a', size)}`,
  'blanks in addresses': size => times(`<loc>${' '.repeat(500)}`, size),
  'CDATA without end': size => times('<loc><![CDATA[', size),
  'entities in addresses': size => times('<loc>&amp;&#1;</loc>', size),
  comments: size => times('<!---->', size),
  'comments without end': size => times('<!--', size),
  'angle brackets': size => times('<', size),
};

/** What JSON repeats. */
export const JSON_STRUCTURES: Readonly<Record<string, Structure>> = {
  'a long name': size => `{"${times('a', size)}": 1}`,
  'different names': size => `{${numbered(at => `"a${at}": 1, `, size)}"z": 1}`,
  'the same name': size => `{${times('"a": 1, ', size)}"z": 1}`,
  'a long text': size => JSON.stringify(times('word *a* [b](c) ', size)),
  'a text of backticks': size => JSON.stringify(times('` `` ', size)),
  'a text of escapes': size => `"${times('\\u0041', size)}"`,
  'a text of line feeds': size => `"${times('\\n', size)}"`,
  'a long number': size => times('1', size),
  numbers: size => `[${times('1, ', size)}1]`,
  'lists of a value': size => `[${times('[1], ', size)}1]`,
  'objects of a value': size => `[${times('{"a": "b"}, ', size)}1]`,
  blanks: size => `[${times(' ', size)}]`,
};
