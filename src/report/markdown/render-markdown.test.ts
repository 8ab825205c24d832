import {readdirSync, readFileSync} from 'node:fs';
import {Parser} from 'commonmark';
import {describe, expect, test} from 'vitest';
import {showMarkup, textOfMarkup} from '../../../test/support/show-markup.ts';
import {renderMarkdown} from './render-markdown.ts';

const show = (text: string): string => showMarkup(renderMarkdown(text));

test.each([
  ['# A\n\n### B ##\ntext', '<h4>A</h4><h6>B</h6><p>text</p>'],
  [
    'a *b* **c** ***d*** _e_ ~~f~~ g_h_i',
    '<p>a <em>b</em> <strong>c</strong> <strong><em>d</em></strong> <em>e</em> <del>f</del> g_h_i</p>',
  ],
  ['a * b ** c\\*d\\*', '<p>a * b ** c*d*</p>'],
  ['`` a`b `` ` ` `c', '<p><code>a`b</code> <code> </code> `c</p>'],
  ['a  \nb\\\nc\nd', '<p>a  <br></br>b<br></br>c\nd</p>'],
  ['- a\n- b\n  - c\n\n- d', '<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>'],
  ['3. a\n4. b\n\ntext', '<ol start=3><li>a</li><li>b</li></ol><p>text</p>'],
  ['> a\n> > b', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>'],
  ['```js\n<b>\n```\nx', '<pre title=js><code><b></code></pre><p>x</p>'],
  [
    '| a | b\\|c |\n| --- | :-: |\n| *1* | 2 |',
    '<div class=scroll><table><thead><tr><th>a</th><th>b|c</th></tr></thead><tbody><tr><td><em>1</em></td><td>2</td></tr></tbody></table></div>',
  ],
  ['---', '<hr></hr>'],
  ['&lt;b&gt; &amp;amp; &#65; &copy;', '<p><b> &amp; A &copy;</p>'],
])('%j', (text, expected) => {
  expect(show(text)).toBe(expected);
});

describe('policy: nothing of a page is loaded or run', () => {
  test('a link shows where it goes', () => {
    expect(show('[a](https://e.com/b "t") <https://e.com>')).toBe(
      '<p><span><a href=https://e.com/b title=https://e.com/b>a</a> <span class=target>⟨https://e.com/b⟩</span></span> <span><a href=https://e.com/ title=https://e.com>https://e.com</a></span></p>',
    );
  });

  test('an image is a link', () => {
    expect(show('![a](https://e.com/a.png)')).toContain(
      '<a href=https://e.com/a.png title=https://e.com/a.png>Image: a</a>',
    );
  });

  test.each([
    '[a](javascript:alert(1))',
    '![a](data:image/svg+xml,x)',
    '[a](/relative)',
    '<javascript:alert(1)>',
  ])('%s is no link', text => {
    expect(show(text)).not.toContain('href');
    expect(show(text)).toContain(text.startsWith('<') ? '<javascript:' : '⟨');
  });

  test('HTML is a text', () => {
    const hostile = '<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>';
    const [first, second] = renderMarkdown(hostile);
    expect(first).toEqual(['p', {}, ['<', 'script>alert(1)', '<', '/script>']]);
    expect(textOfMarkup([second ?? ''])).toBe('<img src=x onerror=alert(1)>');
  });
});

/** What a reader reads of it, by the reference implementation. */
function reference(text: string): string {
  const walker = new Parser().parse(text).walker();
  let all = '';
  for (let step = walker.next(); step; step = walker.next()) {
    const {type, literal} = step.node;
    if (step.entering && literal !== null && type !== 'html_block') all += literal;
  }
  return all;
}

const ROOT = new URL('../../../test/fixtures/pages/', import.meta.url);
const pages = readdirSync(ROOT, {recursive: true, encoding: 'utf8'}).filter(name => name.endsWith('.md'));

test('policy: the pages of the fixtures read as CommonMark has them', () => {
  expect(pages.length).toBeGreaterThan(3);
  const words = (text: string): string => text.replace(/⟨[^⟩]*⟩|Image: |~~/g, '').replace(/[\s|]+/g, '');
  for (const name of pages) {
    // What a golden says about its page stands before the Markdown.
    const text = readFileSync(new URL(name, ROOT), 'utf8').replace(/^<!-- .* -->\n/, '');
    // Tables and deletions are no part of CommonMark.
    // A number four spaces in is a text to CommonMark, and an item to us.
    const plain = text.replace(/^\s*\|.*\|$/gm, '').replace(/^ {4}\d+\. /gm, '    ');
    expect(words(textOfMarkup(renderMarkdown(plain))), name).toBe(words(reference(plain)));
  }
});

test.each([
  ['brackets', '['],
  ['links', '[a](b'],
  ['emphasis', '*a **b '],
  ['closers', 'a* b** '],
  ['backticks', '`a``b'],
  ['quotes', '> '],
  ['items', '- '],
  ['nested', '*'],
  ['fences', '```   '],
  ['cells', '| - '],
  ['images', '![a]('],
  ['entities', '&#'],
  ['spaces', ' ` '],
  ['breaks', '\n\n- \n'],
])('policy: %s without end take time that grows with the text', {tags: 'slow'}, (_, part) => {
  const time = (count: number): number => {
    const text = part.repeat(count);
    const start = process.cpuUsage();
    renderMarkdown(text);
    const {user, system} = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  time(1000);
  const best = (count: number): number => Math.min(time(count), time(count), time(count));
  // Quadratic time would be sixteen-fold; what is below that many milliseconds says nothing.
  expect(best(32_000)).toBeLessThan(Math.max(150, best(8000) * 10));
});
