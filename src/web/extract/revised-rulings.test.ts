import {describe, expect, test} from 'vitest';
import {extractHtml} from './extract-html.ts';

const extract = (html: string) => extractHtml(html, {baseUrl: 'https://a.example/', honorBaseHref: false});
const markdown = (html: string) => extract(html).markdown;

describe('D2: the button of a heading', () => {
  test.each([
    '<h2><button>Shipping</button></h2>',
    '<h2 class="accordion-header">\n <span><button aria-expanded="false">Shipping<svg><title>arrow</title></svg></button></span></h2>',
  ])('D2: is its text where it is all of it: %s', html => {
    expect(markdown(`${html}<p>Text.`)).toBe('## Shipping\n\nText.\n');
  });

  test.each([
    ['<h2>Title <button>Copy link</button></h2>', '## Title\n'],
    ['<h2><button>One</button><button>Two</button></h2><p>x', 'x\n'],
    ['<h2><button hidden>One</button></h2><p>x', 'x\n'],
    ['<h2><img src="/i" alt="Logo"><button>One</button></h2>', '## ![Logo](https://a.example/i)\n'],
    ['<p><button>One</button></p><p>x', 'x\n'],
  ])('D2: is left out elsewhere: %s', (html, expected) => {
    expect(markdown(html)).toBe(expected);
  });
});

describe('D5: the language of a fence', () => {
  test.each([
    ['<pre><code class="language-ts">x</code></pre>', 'ts'],
    ['<pre class="lang-ts"><code>x</code></pre>', 'ts'],
    ['<div class="highlight highlight-source-js"><pre>x</pre></div>', 'js'],
    ['<div class="language-ruby"><pre><code>x</code></pre></div>', 'ruby'],
    // The nearest one counts.
    ['<div class="language-a"><pre class="language-b"><code class="language-c">x</code></pre></div>', 'c'],
    ['<div class="language-a"><pre class="language-b">x</pre></div>', 'b'],
    ['<section class="language-a"><div><pre>x</pre></div></section>', ''],
    ['<div class="highlight-source"><pre>x</pre></div>', ''],
  ])('D5: %s', (html, language) => {
    expect(markdown(html)).toBe(`\`\`\`${language}\nx\n\`\`\`\n`);
  });
});

describe('D9: a table of one column', () => {
  test('D9: whose cells hold blocks is layout', () => {
    const html =
      '<table><tr><td><h2>Head</h2><p>One.</p></td></tr><tr><td><ul><li>two</ul></td></tr></table><p>After.';
    expect(markdown(html)).toBe('## Head\n\nOne.\n\n- two\n\nAfter.\n');
  });

  test.each([
    ['text alone', '<table><tr><td>a</td></tr><tr><td>b</td></tr></table>', '| a |\n|---|\n| b |\n'],
    ['two columns', '<table><tr><td><p>a</p></td><td>b</td></tr></table>', '| a | b |\n|---|---|\n'],
    [
      'a wider row further down',
      '<table><tr><td><p>a</p></td></tr><tr><td>b</td><td>c</td></tr></table>',
      '| a | |\n|---|---|\n| b | c |\n',
    ],
    [
      'a block in its caption',
      '<table><caption><p>Cap</p></caption><tr><td>a</td></tr></table>',
      'Cap\n\n| a |\n|---|\n',
    ],
  ])('D9: is a table with %s', (_, html, expected) => {
    expect(markdown(html)).toBe(expected);
  });
});

describe('review R18: what a page calls itself has a bound', () => {
  test('review R18: a title of megabytes is cut between characters', () => {
    const {title = ''} = extract(`<title>${'\u{1f600}'.repeat(1_000_000)}</title><p>x`);
    expect(title.length).toBeLessThanOrEqual(1000);
    expect(title).toBe(`${'\u{1f600}'.repeat(499)}…`);
    expect(extract(`<title>${'x'.repeat(1000)}</title>`).title).toBe('x'.repeat(1000));
    expect(extract(`<h1>${'x'.repeat(1001)}</h1>`).title).toBe(`${'x'.repeat(999)}…`);
  });

  test('review R18: a language longer than any is none', () => {
    expect(extract(`<html lang="${'x'.repeat(101)}"><p>x`).language).toBeUndefined();
    expect(extract(`<html lang="${'x'.repeat(100)}"><p>x`).language).toBe('x'.repeat(100));
  });
});
