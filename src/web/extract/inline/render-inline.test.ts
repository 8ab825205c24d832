import {describe, expect, test} from 'vitest';
import {readCommonMark} from '../../../../test/support/read-commonmark.ts';
import {extractHtml} from '../extract-html.ts';

const baseUrl = 'https://example.com/docs/page?q=1';

const extract = (html: string, honorBaseHref = false) => extractHtml(html, {baseUrl, honorBaseHref});
const markdown = (html: string) => extract(html).markdown;

describe('inline', () => {
  test('FR-WF-13a emphasis', () => {
    expect(markdown('<em>a</em> <i>b</i> <strong>c</strong> <b>d</b>')).toBe('*a* *b* **c** **d**\n');
    expect(markdown('<b>a <i>b</i></b> <b><b>c</b></b>')).toBe('**a *b*** **c**\n');
  });

  test.each(['a  b', 'a   b', 'a\tb', 'a\nb', 'a \r\n\f b', 'a<b>  </b>b', 'a <i> </i> b'])(
    'FR-WF-13a blanks between two words are one space: %j',
    html => {
      expect(markdown(`<p>${html}</p>`)).toBe('a b\n');
    },
  );

  test('ruling D11 empty emphasis vanishes, blanks move outside', () => {
    expect(markdown('a<b> </b>b <i></i>c<b> d </b>e')).toBe('a b c **d** e\n');
    expect(markdown('<b>Note:&nbsp;</b>x')).toBe('**Note:**\u00a0x\n');
  });

  test.each([
    ['\\<br>x', '\\\\\nx\n'],
    ['\\ <br>x', '\\\\\nx\n'],
    ['\\&nbsp;<br>x', '\\\\\nx\n'],
    ['\\ &nbsp;<br>x', '\\\\\nx\n'],
    ['\\ &nbsp; &nbsp;<br>x', '\\\\\nx\n'],
    ['\\ &nbsp;x', '\\ \u00a0x\n'],
    ['\\ x<br>y', '\\ x\ny\n'],
  ])('ruling D7 a backslash before the end of a line is text: %j', (html, expected) => {
    expect(markdown(`<p>${html}</p>`)).toBe(expected);
  });

  test.each([
    ['&lt;0@a>', '\\<0@a>\n'],
    ['&lt;.x@a.b>', '\\<.x@a.b>\n'],
    ['1 &lt;2 @ 3', '1 <2 @ 3\n'],
    ['&lt;0@', '<0@\n'],
    ['&lt;#<b>@bc</b>>', '\\<#**@bc**>\n'],
    ['I &lt;3 <b>you</b>', 'I <3 **you**\n'],
  ])('ruling D7 an address of mail in angle brackets is no link: %s', (html, expected) => {
    expect(markdown(`<p>${html}</p>`)).toBe(expected);
  });

  test('ruling D7 a line after a line break of its own starts no block', () => {
    const html =
      '<b>*<i>*</i></b><em><a href="/a"><br></a></em><b><em># *</em>0*<em>*</em></b><em><a href="/a">*</a></em>';
    expect(markdown(`<div>${html}</div>`)).toContain('\n\\# ');
  });

  test('ruling D11 delimiters behind a blank that moves outside its style may pair', () => {
    const html = '<i>__**</i><b><i>*</i></b><b>*</b><em><b><img src="i.png" alt="*"></b><br>__*</em>*';
    const read = readCommonMark(markdown(`<h2>${html}</h2>`));
    expect(read.text).toBe('__*****__**');
  });

  test('ruling D11 neighbours of one style are one, since their delimiters would merge', () => {
    expect(markdown('<em>a</em><em>b</em>')).toBe('*ab*\n');
  });

  test('policy: emphasis that CommonMark could not read loses its delimiters', () => {
    expect(markdown('a<b>"b"</b>c')).toBe('a"b"c\n');
    expect(markdown('<b>（强调）</b>文字 <b>强调</b>文字')).toBe('（强调）文字 **强调**文字\n');
    expect(markdown('<b>a</b><i>b</i>')).toBe('**a***b*\n');
  });

  test('emphasis around and inside links', () => {
    expect(markdown('<b><a href="/x">y</a></b> <a href="/x"><i>y</i> z</a>')).toBe(
      '**[y](https://example.com/x)** [*y* z](https://example.com/x)\n',
    );
  });

  test('emphasis that spans paragraphs is closed and opened again', () => {
    expect(markdown('<b>a<p>b</p></b>')).toBe('**a**\n\n**b**\n');
  });

  test('FR-WF-13a images only with an alternative text', () => {
    expect(markdown('<img src="a b.png" alt=" A  [x] "><img src="c.png"><img src="d" alt="">')).toBe(
      '![A [x]](https://example.com/docs/a%20b.png)\n',
    );
    expect(markdown('<a href="/x"><img src="/y" alt="z"></a>')).toBe(
      '[![z](https://example.com/y)](https://example.com/x)\n',
    );
  });
});

describe('links', () => {
  const link = (href: string) => markdown(`<a href="${href}">t</a>`);

  test.each([
    ['/a', 'https://example.com/a'],
    ['b#f', 'https://example.com/docs/b#f'],
    ['?x=y', 'https://example.com/docs/page?x=y'],
    ['#f', 'https://example.com/docs/page?q=1#f'],
    ['//o.example/', 'https://o.example/'],
    [' HTTPS://Bücher.example:443/ä ', 'https://xn--bcher-kva.example/%C3%A4'],
    ['', 'https://example.com/docs/page?q=1'],
  ])('T-WF-EXT-02 %j becomes absolute, with its fragment', (href, expected) => {
    expect(link(href)).toBe(`[t](${expected})\n`);
  });

  test('ruling D10 mailto and tel stay; nothing ends a target', () => {
    expect(link('mailto:a@b.c?subject=x y')).toBe('[t](mailto:a@b.c?subject=x%20y)\n');
    expect(link('tel:+1 2')).toBe('[t](tel:+1%202)\n');
    expect(link('/a (b)')).toBe('[t](https://example.com/a%20%28b%29)\n');
    expect(link('?a=\\`&amp;copy;=1')).toBe('[t](https://example.com/docs/page?a=%5C%60\\&copy;=1)\n');
  });

  test.each([
    'javascript:alert(1)',
    ' JaVaScRiPt:x',
    'java\nscript:x',
    'vbscript:x',
    'data:text/html,x',
    'blob:x',
    'http://[',
  ])('ruling D7 %j loses its link, not its text', href => {
    expect(link(href)).toBe('t\n');
    expect(markdown(`<img src="${href}" alt="t">`)).toBe('t\n');
  });

  test('ruling D10 base href counts only where the setting says so', () => {
    const html = '<base href="/other/"><a href="x">t</a>';
    expect(extract(html).markdown).toBe('[t](https://example.com/docs/x)\n');
    expect(extract(html, true).markdown).toBe('[t](https://example.com/other/x)\n');
    expect(extract('<base href="javascript:1"><a href="x">t</a>', true).markdown).toBe(
      '[t](https://example.com/docs/x)\n',
    );
  });

  test('ruling D5 blocks in a link are flattened', () => {
    expect(markdown('<a href="/x"><h3>T</h3><p>p</p><ul><li>i</li></ul></a>')).toBe(
      '[T p i](https://example.com/x)\n',
    );
  });

  test('a link without text vanishes; without href it is text', () => {
    expect(markdown('<a href="/x"> </a>a<a name="n">b</a>')).toBe('ab\n');
  });
});

describe('escaping', () => {
  const text = (plain: string) =>
    markdown(`<p>${plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`);

  test.each([
    'snake_case',
    '2 * 3',
    'C#',
    'a < b',
    'a & b',
    'AT&T',
    'a ~ b',
    '[1]',
    'x[0]',
    'a | b',
    '1.5',
    '#1',
    '-1',
    'a*',
    '~5',
    '5 > 3',
    "it's",
    'a\\b',
    '`',
    '100%',
    'f(x) = y',
    '(a)',
  ])('ruling D7 %j stays as it is', plain => {
    expect(text(plain)).toBe(`${plain}\n`);
  });

  test.each([
    ['<script>alert(1)</script>', '\\<script>alert(1)\\</script>'],
    ['<!-- x -->', '\\<!-- x -->'],
    ['<?x', '\\<?x'],
    ['<https://x.example>', '\\<https://x.example>'],
    ['&lt;', '\\&lt;'],
    ['&#60;', '\\&#60;'],
    ['*a*', '\\*a\\*'],
    ['**a** b', '\\*\\*a\\*\\* b'],
    ['__init__', '\\_\\_init\\_\\_'],
    ['~~a~~', '\\~\\~a\\~\\~'],
    ['`a`', '\\`a\\`'],
    ['[a](b)', '[a\\](b)'],
    ['[a]: /b', '\\[a]: /b'],
    ['# a', '\\# a'],
    ['> a', '\\> a'],
    ['- a', '\\- a'],
    ['+ a', '\\+ a'],
    ['* a', '\\* a'],
    ['12. a', '12\\. a'],
    ['3) a', '3\\) a'],
    ['---', '\\---'],
    ['===', '\\==='],
    ['~~~', '\\~\\~\\~'],
    ['a\\*b', 'a\\\\*b'],
    ['|---|---|', '\\|---|---|'],
  ])('ruling D7 %j is text to CommonMark', (plain, expected) => {
    expect(text(plain)).toBe(`${expected}\n`);
  });

  test('ruling D7 in its places: after a line break, at the end of a heading, before a link', () => {
    expect(markdown('a<br># b<br>---')).toBe('a\n\\# b\n\\---\n');
    expect(markdown('<h2>a ##</h2>')).toBe('## a \\##\n');
    expect(markdown('<h2>C#</h2>')).toBe('## C#\n');
    expect(markdown('!<a href="/x">y</a>')).toBe('\\![y](https://example.com/x)\n');
    expect(markdown('<a href="/x">a]b</a>')).toBe('[a\\]b](https://example.com/x)\n');
    expect(markdown('<a href="/x">[1]</a>')).toBe('[[1]](https://example.com/x)\n');
  });
});

describe('invisible characters', () => {
  test('ruling D8 they are dropped from text, alternative texts, code and title', () => {
    const hidden = '\u0007\u001b[31m\u009b\u202e\u2066\u200b\ufeff\u{e0041}\u{e007f}\u00ad';
    const html = `<title>t${hidden}</title><p>a${hidden}b</p><pre>c${hidden}d</pre><img src="/x" alt="e${hidden}f">`;
    const {markdown: text, title} = extract(html);
    expect(title).toBe('t[31m');
    expect(text).toBe('a[31mb\n\n```\nc[31md\n```\n\n![e\\[31mf](https://example.com/x)\n');
  });

  test('ruling D8 joiners stay where a script or an emoji needs them', () => {
    for (const kept of ['می\u200cخواهم', 'क्\u200dष', '👨\u200d👩\u200d👧', '❤\ufe0f\u200d🔥'])
      expect(markdown(kept)).toBe(`${kept}\n`);
    expect(markdown('a\u200cb\u200dc 1\u200d2')).toBe('abc 12\n');
  });
});
