import {Parser} from 'commonmark';
import {normalizeWhitespace} from '../../../dist/web/extract/block-writer.js';
import {extractHtml} from '../../../dist/web/extract/extract-html.js';
import {expectThat} from '../expect-that.js';

const options = {baseUrl: 'https://example.com/dir/page', honorBaseHref: false};

/** Rulings D7 and D8: any text is a page; its Markdown has no HTML, no script, no invisible characters. */
function check(bytes) {
  const html = Buffer.from(bytes).toString('utf8');
  const {markdown, title = '', language = ''} = extractHtml(html, options);
  expectThat(extractHtml(html, options).markdown === markdown, 'twice is not the same');
  expectThat(normalizeWhitespace(markdown) === markdown, 'the white space is not normal', markdown);
  for (const text of [markdown, title, language]) {
    expectThat(!FORBIDDEN.test(text), 'a character that must not come out', text);
  }
  const walker = new Parser().parse(markdown).walker();
  for (let event = walker.next(); event; event = walker.next()) {
    const {node, entering} = event;
    if (!entering) continue;
    expectThat(!node.type.startsWith('html'), 'raw HTML comes out', markdown);
    if (node.type !== 'link' && node.type !== 'image') continue;
    const scheme = schemeOf(node.destination ?? '');
    expectThat(!REFUSED.has(scheme), 'a target that is no document', node.destination);
  }
}

const REFUSED = new Set(['javascript:', 'vbscript:', 'data:', 'blob:']);

function schemeOf(target) {
  try {
    return new URL(target, options.baseUrl).protocol;
  } catch {
    return '';
  }
}

/** Controls but TAB and LF, bidi overrides and isolates, tags. */
const FORBIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

export const target = {
  check,
  modules: ['/dist/web/extract/'],
  maxLength: 1024,
  seeds: [
    '<!doctype html><html lang=en><title>T</title><main><h1>A</h1><p>b <a href="/c">d</a> <b>e</b></main>',
    '<table><caption>c</caption><tr><th>a<td>b|c<tr><td colspan=2><ul><li>x<ol start=3><li>y</table>',
    '<pre><code class="language-js">`a`\n```\n</code></pre><blockquote>q<hr><dl><dt>t<dd>d</dl></blockquote>',
    '<p>1. not a list<br>* nor this<br># nor that<br>&lt;b&gt; [x](y) <img src=x alt="i]m">',
    '<div hidden>h</div><p style="display:none">n</p><svg><title>s</title></svg><template>t</template>',
    '<b><p><i></b>x</i><a href=javascript:alert(1)>j</a><a href="data:x,y">d</a><base href=//evil/>',
  ],
  tokens: [
    ...'html head body main article p div span a b i em strong code pre h1 h6 ul ol li dl dt dd table tr td th'
      .split(' ')
      .flatMap(name => [`<${name}>`, `</${name}>`]),
    ...'caption tbody thead colgroup col select option template svg math foreignObject desc title style script'
      .split(' ')
      .flatMap(name => [`<${name}>`, `</${name}>`]),
    ...[
      '<br>',
      '<hr>',
      '<img alt="',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<!doctype html>',
      '<plaintext>',
      '<frameset>',
    ],
    ...[
      ' href="',
      ' class=x',
      ' style="display:none"',
      ' lang=',
      ' start=',
      ' colspan=9',
      ' hidden',
      '">',
      "'",
      '"',
    ],
    ...[
      '&lt;',
      '&amp;',
      '&#0;',
      '&#x1b;',
      '&nbsp;',
      '&#x202e;',
      '&notit;',
      '\n',
      '\t',
      '\0',
      '\u200b',
      '\u202e',
      '😀',
    ],
    ...[
      'javascript:',
      'http://a/',
      'mailto:a@b',
      '```',
      '~~~',
      '`',
      '*',
      '_',
      '[',
      '](',
      ')',
      '|',
      '#',
      '1. ',
      '- ',
    ],
    ...[
      '\\',
      '<',
      '>',
      '&',
      '  ',
      '\u{e0041}',
      '\ud7ff',
      '---',
      '===',
      '![',
      '<a href=x>',
      '<textarea>',
      '<noscript>',
    ],
  ],
};
