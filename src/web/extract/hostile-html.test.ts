import {describe, expect, test} from 'vitest';
import {extractHtml} from './extract-html.ts';

const options = {baseUrl: 'https://example.com/', honorBaseHref: false};

/** Pages that take quadratic time, or make quadratic output, where something walks too far. */
const PAGES: Record<string, (size: number) => string> = {
  'nested div': size => '<div>x'.repeat(size),
  'nested lists': size => '<ul><li>x'.repeat(size / 2),
  'nested block quotes': size => '<blockquote>x'.repeat(size / 2),
  'nested tables': size => '<table><tr><td>x'.repeat(size / 4),
  'adoption agency': size => '<b><p><a href=x>y</b>'.repeat(size / 8),
  'formatting elements in every paragraph': size =>
    `<p>${Array.from({length: 300}, (_, id) => `<b id=${id}>`).join('')}${'<p>x'.repeat(size)}`,
  'one link address in every paragraph': size => `<p><a href="${'y'.repeat(size)}">${'<p>x'.repeat(size)}`,
  'foster parents': size => `<table>${'x<b>y'.repeat(size / 4)}`,
  attributes: size => `<p ${Array.from({length: size}, (_, id) => `a${id}=1`).join(' ')}>x`,
  entities: size => '&amp;'.repeat(size * 4),
  'unclosed comment': size => `<!--${'a-'.repeat(size * 20)}`,
  'unclosed tags': size => '<a '.repeat(size * 4),
  delimiters: size => `<p>${'*a _b ~~c `d [e ](f '.repeat(size / 4)}`,
  'unreadable emphasis': size => `<p>${'<i>a<b>"b"</b></i><b>c</b>'.repeat(size / 16)}`,
  'backtick runs': size => `<code>${'`x'.repeat(size)}</code>`,
  'no-break spaces': size => `<p><b>${'&nbsp;'.repeat(size)}x<br>`,
  'heading of #': size => `<h1>${'#'.repeat(size)}x #</h1>`,
  'one wide row': size => `<table><tr>${'<td>x'.repeat(size / 8)}${'<tr><td>y'.repeat(size / 8)}</table>`,
  'CSS comments': size => `<p style="${'/*none'.repeat(size)}">x`,
  'end tags below deep elements': size =>
    `<div><p><i>${'<span>'.repeat(size / 8)}${'</div></i></x>'.repeat(size / 4)}`,
  'comments that end with a bang': size => '<!-- a --!><!-->'.repeat(size / 2),
  'scripts that hide their end': size => '<script><!--<script></script>'.repeat(size / 4),
  'one number of many digits': size => `&#${'1'.repeat(size * 8)};`,
  'names like references': size => Array.from({length: size}, (_, id) => `&a${id};&copy${id}`).join(''),
  'a rule at the very end that needs another parser': size => `${'<p>a <b>b</b></p>'.repeat(size)}<template>`,
  'a list item below many others': size =>
    `<li>${'<span>'.repeat(size / 8)}${'<p><i>x</li>'.repeat(size / 4)}`,
  'formatting that misnests': size => '<b><i><p>x</b></i>'.repeat(size / 8),
  joiners: size => `<p>${'\u200d👨'.repeat(size / 2)}`,
};

/** What the reader's mode looks at beside the tree. */
const READER_PAGES: Record<string, (size: number) => string> = {
  'deep paragraphs': size =>
    `${'<div class="a b">'.repeat(500)}${'<p>some words, and more</p>'.repeat(size)}`,
  'fragment links in one heading': size => `<h2>${'<a href="#a">¶b</a>'.repeat(size / 4)}`,
  'sources of formulas in one formula': size =>
    `<math>${'<mi>x</mi><annotation encoding="application/x-tex">x</annotation>'.repeat(size / 16)}`,
  'spans of cells': size => `<table>${'<tr><td colspan=50 rowspan=50>x'.repeat(size / 8)}</table>`,
  'classes of all kinds': size =>
    Array.from({length: size / 4}, (_, id) => `<p class="a${id} b-${'x'.repeat(id % 50)}">w`).join(''),
  'headings that share the words of the title': size =>
    `<title>${Array.from({length: 150}, (_, id) => `w${id}`).join(' ')}</title>${'<h1>w1 w2 w3</h1>'.repeat(size / 4)}`,
  'streamed segments within each other': size =>
    `<p>x<template id="B:0"></template>${Array.from({length: size / 8}, (_, id) => `<div hidden id="S:${id.toString(16)}"><p>x<template id="B:${(id + 1).toString(16)}"></template></div>`).join('')}`,
  'tables in tables': size => '<table><tr><td>a<td>b'.repeat(size / 8),
  'formulas in formulas': size =>
    `<p>x${'<math><mtext>x'.repeat(size / 16)}${'</mtext></math>'.repeat(size / 16)}`,
  'deep formulas': size =>
    `<p>${`<math>${'<msup><msqrt><mi>x</mi>'.repeat(200)}</math>`.repeat(size / 2000)}`,
  'pictures in one figure': size =>
    `<figure><figcaption>${'<p>some words, and more</p>'.repeat(size / 4)}</figcaption>${'<img src=a alt=b><img alt=b>'.repeat(size / 4)}</figure>`,
  'code in code below long classes': size =>
    `<div class="${'x-y '.repeat(size)}">${'<pre><code>a<code>b</code></code></pre>'.repeat(size / 8)}</div>`,
  'powers of powers': size => `<p>x${'<sup>1'.repeat(size / 4)}`,
  'pieces of one link': size => `<p>${'<a href=a>x</a> '.repeat(size / 4)}`,
  'notes that lead back': size =>
    `<p class="${'x'.repeat(size)}">${'<a href="#fnref1">a b</a>'.repeat(size / 4)}`,
  'addresses of pictures': size => `<p>${`<img alt=x srcset="${',a'.repeat(200)}">`.repeat(size / 100)}`,
  'noscript in noscript': size => `<noscript>${'<p>text of a page</p><noscript>'.repeat(size / 4)}`,
};

describe('hostile pages', () => {
  test.each(Object.keys(PAGES))('hostile HTML, linear time and output: %s', {tags: 'stress'}, name => {
    const page = PAGES[name]?.(32_000) ?? '';
    const start = performance.now();
    const {markdown} = extractHtml(page, options);
    // All take below 300 ms alone on a slow machine; quadratic ones would take minutes.
    expect(performance.now() - start).toBeLessThan(5000);
    expect(markdown.length).toBeLessThan(16 * page.length + 4_000_000);
  });

  test.each([...Object.entries(PAGES), ...Object.entries(READER_PAGES)])(
    'R2 hostile HTML in reader mode, linear time and output: %s',
    {tags: 'stress'},
    (_, make) => {
      const page = make(32_000);
      const start = performance.now();
      const {markdown} = extractHtml(page, {...options, mode: 'reader'});
      expect(performance.now() - start).toBeLessThan(5000);
      expect(markdown.length).toBeLessThan(16 * page.length + 4_000_000);
    },
  );
});
