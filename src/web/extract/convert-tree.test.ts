import {describe, expect, test} from 'vitest';
import {extractHtml} from './extract-html.ts';

const baseUrl = 'https://example.com/docs/page?q=1';

const markdown = (html: string) => extractHtml(html, {baseUrl, honorBaseHref: false}).markdown;
/** Lines of Markdown, the last one ended. */
const lines = (...expected: string[]) => `${expected.join('\n')}\n`;

describe('blocks', () => {
  test('FR-WF-13a headings', () => {
    const html = [1, 2, 3, 4, 5, 6].map(level => `<h${level}>H${level}</h${level}>`).join('');
    expect(markdown(html)).toBe('# H1\n\n## H2\n\n### H3\n\n#### H4\n\n##### H5\n\n###### H6\n');
  });

  test('ruling D11 a heading is one line; an empty one vanishes', () => {
    expect(markdown('<h1>a<br>b<p>c</p></h1><h2> <b></b></h2>x')).toBe('# a b c\n\nx\n');
  });

  test('ruling D5 blockquote, hr, br, del, dl, figcaption, summary', () => {
    expect(markdown('<blockquote><p>a</p><p>b</p></blockquote>')).toBe('> a\n>\n> b\n');
    expect(markdown('a<hr>b')).toBe('a\n\n---\n\nb\n');
    expect(markdown('a<br>b')).toBe('a\nb\n');
    expect(markdown('a<br><br>b')).toBe('a\n\nb\n');
    expect(markdown('<del>a</del> <s>b</s>')).toBe('~~a~~ ~~b~~\n');
    expect(markdown('<dl><dt>t</dt><dd>d</dd><dd><p>e</p></dd></dl>')).toBe('**t**\n\nd\n\ne\n');
    expect(markdown('<figure>f<figcaption>c</figcaption></figure>')).toBe('f\n\nc\n');
    expect(markdown('<details><summary>s</summary>d</details>')).toBe('s\n\nd\n');
    expect(markdown('x<sup>2</sup> H<sub>2</sub>O <kbd>K</kbd> <abbr title="no">A</abbr>')).toBe(
      'x2 H2O K A\n',
    );
  });

  test('ruling D5 neighbouring block quotes stay two, nested ones nest', () => {
    expect(markdown('<blockquote>a</blockquote><blockquote>b<blockquote>c</blockquote></blockquote>')).toBe(
      '> a\n\n> b\n>\n> > c\n',
    );
  });
});

describe('lists', () => {
  test('FR-WF-EXT-LIST-01 two spaces for each list around the list (ruling D6)', () => {
    const html = '<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>';
    expect(markdown(html)).toBe(lines('- a', '  - b', '    - c', '- d'));
  });

  test('ruling D6 the same under numbers, whatever the marker is wide', () => {
    const html =
      '<ol start="9"><li>a<ul><li>b</li></ul></li><li>c<ol><li>d<ol><li>e</li></ol></li></ol></li></ol>';
    expect(markdown(html)).toBe(lines('9. a', '  - b', '10. c', '  1. d', '    1. e'));
  });

  test('ruling D6 start: absent, invalid and negative numbers are 1', () => {
    expect(markdown('<ol start="x"><li>a</ol>')).toBe('1. a\n');
    expect(markdown('<ol start="-3"><li>a</ol>')).toBe('1. a\n');
    expect(markdown('<ol start=" 07 "><li>a<li>b</ol>')).toBe('7. a\n8. b\n');
  });

  test('a list has no blank lines; two lists are two blocks', () => {
    expect(markdown('<ul><li><p>a</p><p>b</p></li><li>c</li></ul><ul><li>d</li></ul>')).toBe(
      lines('- a', '  b', '- c', '', '- d'),
    );
  });

  test('blocks in an item are indented to its content', () => {
    const html = '<ol><li>a<pre><code>x\n  y</code></pre>b</li><li><blockquote>q</blockquote></li></ol>';
    expect(markdown(html)).toBe(lines('1. a', '   ```', '   x', '     y', '   ```', '   b', '2. > q'));
  });

  test('a fence that begins an item has a line of its own', () => {
    expect(markdown('<ul><li><pre>x</pre></li><li>b</li></ul>')).toBe(
      lines('-', '  ```', '  x', '  ```', '- b'),
    );
  });

  test('text after a nested list is set off from it', () => {
    expect(markdown('<ul><li>a<ul><li>b</li></ul>c</li></ul>')).toBe(lines('- a', '  - b', '', '  c'));
  });

  test('items without content and without a list', () => {
    expect(markdown('<ol><li>a<li> <li>c</ol>')).toBe(lines('1. a', '3. c'));
    expect(markdown('<div><li>a<li>b</div>')).toBe(lines('- a', '- b'));
    expect(markdown('<ul><li><ul><li>x</ul></ul>')).toBe('- - x\n');
  });
});

describe('code', () => {
  test('FR-WF-EXT-CODE-01 content exactly, language from the class', () => {
    const html = '<pre><code class="hljs language-ts x">  let a = 1;\n\n\tb &lt; c;  \n</code></pre>';
    expect(markdown(html)).toBe('```ts\n  let a = 1;\n\n\tb < c;  \n\n```\n');
  });

  test('FR-WF-EXT-CODE-01 the fence is longer than any inside', () => {
    expect(markdown('<pre><code>```js\n````\n</code></pre>')).toBe('`````\n```js\n````\n\n`````\n');
  });

  test('FR-WF-EXT-CODE-01 a language cannot smuggle anything', () => {
    expect(markdown('<pre><code class="language-a`b language-&lt;x&gt;">c</code></pre>')).toBe(
      '```\nc\n```\n',
    );
  });

  test('ruling D5 pre without code is a fence too; highlighters keep their lines', () => {
    expect(markdown('<pre>a\n b</pre>')).toBe('```\na\n b\n```\n');
    // What references put there is a line end (CR, CRLF), or invisible (FF).
    expect(markdown('<pre>a&#13;b&#13;&#10;c&#13;<code>&#12;d&#10;e</code></pre>')).toBe(
      '```\na\nb\nc\nd\ne\n```\n',
    );
    expect(markdown('<pre><code><div>a<br></div><div>b<br></div></code></pre>')).toBe('```\na\nb\n```\n');
    expect(markdown('<pre><code><span>a</span>\n<span><b>b</b> <a href="x">c</a></span></code></pre>')).toBe(
      '```\na\nb c\n```\n',
    );
  });

  test('FR-WF-13a inline code, with backticks inside', () => {
    expect(markdown('a <code>b  c</code> d')).toBe('a `b c` d\n');
    expect(markdown('<code>a`b</code>')).toBe('``a`b``\n');
    expect(markdown('<code>`a`</code>')).toBe('`` `a` ``\n');
    expect(markdown('<code>``</code> <code> </code>')).toBe('` `` `\n');
    expect(markdown('<code>*a* &lt;b&gt; &amp;amp;</code>')).toBe('`*a* <b> &amp;`\n');
  });

  test('FR-WF-13a a link inside code stays a link', () => {
    expect(markdown('<code>Vec&lt;<a href="/T">T</a>&gt;</code>')).toBe(
      '`Vec<`[`T`](https://example.com/T)`>`\n',
    );
  });
});

describe('tables', () => {
  const row = (tag: string, ...cells: string[]) =>
    `<tr>${cells.map(cell => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;

  test('FR-WF-EXT-TABLE-01 a pipe table', () => {
    const html = `<table><thead>${row('th', 'A', 'B')}</thead><tbody>${row('td', '1', '2')}</tbody></table>`;
    expect(markdown(html)).toBe(lines('| A | B |', '|---|---|', '| 1 | 2 |'));
  });

  test('FR-WF-EXT-TABLE-01 rule 1: spans are ignored; ruling D9: rows are padded', () => {
    const html = '<table><tr><td colspan="3">a</td></tr><tr><td>b</td><td rowspan="2">c</td></tr></table>';
    expect(markdown(html)).toBe(lines('| a | |', '|---|---|', '| b | c |'));
  });

  test('FR-WF-EXT-TABLE-01 rule 2: the first row with th is the header', () => {
    const html = `<table>${row('td', 'x')}${row('th', 'H')}${row('th', 'I')}</table>`;
    expect(markdown(html)).toBe(lines('| H |', '|---|', '| x |', '| I |'));
  });

  test('FR-WF-EXT-TABLE-01 rules 4 and 5: one line, pipes escaped', () => {
    const html = `<table>${row('td', 'a<br>b<p>c</p>', 'x|y', '<code>p|q</code>', '\\|')}</table>`;
    expect(markdown(html)).toBe(lines('| a b c | x\\|y | `p\\|q` | \\\\\\| |', '|---|---|---|---|'));
  });

  test('FR-WF-EXT-TABLE-01 rule 6 yields to rule 2; an empty table vanishes', () => {
    expect(markdown(`<table>${row('th', '', '')}${row('td', 'a', 'b')}</table>`)).toBe(
      lines('| | |', '|---|---|', '| a | b |'),
    );
    expect(markdown(`x<table>${row('td', '', ' ')}</table>`)).toBe('x\n');
  });

  test('ruling D9 the caption is a paragraph before', () => {
    const html = `<table>${row('td', 'a')}<caption>The <b>caption</b></caption></table>`;
    expect(markdown(html)).toBe(lines('The **caption**', '', '| a |', '|---|'));
  });

  test('ruling D9 a table in a table is layout, as is role="presentation"', () => {
    const inner = `<table>${row('td', '1', '2')}</table>`;
    expect(markdown(`<table>${row('td', '<h2>a</h2>b', inner)}</table>`)).toBe(
      lines('## a', '', 'b', '', '| 1 | 2 |', '|---|---|'),
    );
    for (const role of ['presentation', 'none']) {
      expect(markdown(`<table role="${role}">${row('td', 'a', 'b')}</table>`)).toBe('a\n\nb\n');
    }
  });
});
