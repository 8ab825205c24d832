import {expect, test} from 'vitest';
import {BlockWriter} from '../block-writer.ts';
import {TreeConverter} from '../convert-tree.ts';
import {extractHtml} from '../extract-html.ts';
import {LinkTargets} from '../link-targets.ts';
import {parseFully} from '../parse/parse-fully.ts';
import {DOCUMENT} from '../tree/tree.ts';
import {formOf} from './page-form.ts';
import {readBlocks} from './read-blocks.ts';

const TEXT = `<p>${'A sentence of the page that is long enough to stay, whatever is beside it. '.repeat(3)}</p>`;

function read(body: string): string {
  const html = `<article>${TEXT}${body}${TEXT}</article>`;
  const {markdown} = extractHtml(html, {
    baseUrl: 'https://example.com/p',
    honorBaseHref: false,
    mode: 'reader',
  });
  const [, ...blocks] = markdown.trim().split('\n\n');
  return blocks.slice(0, -1).join('\n\n');
}

test.each([
  ['<h2>Use<a class="headerlink" href="#use">¶</a></h2>', 'Use'],
  ['<h2><a href="#use">Use</a></h2>', 'Use'],
  ['<h2>Use <a href="#use">Link to this heading</a></h2>', 'Use'],
  ['<h2>Use<span class="mw-editsection">[<a href="/e">edit</a>]</span></h2>', 'Use'],
  ['<h2>Use <a href="#n1">[1]</a></h2>', 'Use [1]'],
])('R2: %s is a plain heading', (heading, text) => {
  expect(read(heading + TEXT)).toContain(`# ${text}\n`);
});

test('R2: headings go down one level at a time', () => {
  const headings = read(`<h2>A</h2>${TEXT}<h5>B</h5>${TEXT}<h5>C</h5>${TEXT}<h2>D</h2>${TEXT}`).match(
    /^#.*/gm,
  );
  expect(headings).toEqual(['# A', '## B', '## C', '# D']);
});

test('R2: the sign that leads back from a note goes', () => {
  expect(
    read(`<p>${'A note at the end of the page, of several words. '.repeat(3)}<a href="#ref1">↩</a></p>`),
  ).not.toContain('↩');
});

test('R2: cells keep their columns where others span rows and columns', () => {
  const table =
    '<table><tr><th>Day<th>Hour<th>What<tr><td rowspan=2>Monday<td>8<td>Tea<tr><td colspan=2>Rest</table>';
  expect(read(table)).toContain('| Monday | 8 | Tea |\n| | Rest | |');
});

test('R2: formulas are their TeX', () => {
  const katex =
    '<span class="katex"><math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">\\frac{x}{y_1}</annotation></semantics></math><span aria-hidden="true">xy1</span></span>';
  const prose = 'Words around a formula keep it where it is, in the sentence that needs it: ';
  expect(read(`<p>${prose}${katex}.</p>`)).toBe(`${prose}$\`\\frac{x}{y_1}\`$.`);
  const script = '<span class="MathJax_Preview">x2</span><script type="math/tex">x^2</script>';
  expect(read(`<p>${prose}${script}.</p>`)).toBe(`${prose}$\`x^2\`$.`);
});

test('R2: an admonition is quoted, and code loses its line numbers', () => {
  const note = 'Mind the gap between the train and the platform when you leave the train, and hold on.';
  expect(read(`<div class="admonition note"><p>${note}</p></div>`)).toBe(`> ${note}`);
  expect(
    read('<pre><span class="lineno">1</span>let a = 1;\n<span class="lineno">2</span>go(a);</pre>'),
  ).toBe('```\nlet a = 1;\ngo(a);\n```');
});

test('R2: a table is not taken for layout because another one stands deeper behind it', () => {
  const table = (name: string): string =>
    `<table><tr><th>${name}<th>Hour<tr><td>Monday<td>8<tr><td>Friday<td>9</table>`;
  const written = read(
    `<p>Opening hours of the harbour office.</p>${table('Day')}<div><div>${table('Date')}</div></div>`,
  );
  expect(written).toContain('| Day | Hour |');
});

test('R2: a link within the page is its text', () => {
  expect(read('<p>See <a href="#notes">the notes</a> and <a href="/b">the book</a>.</p>')).toBe(
    'See the notes and [the book](https://example.com/b).',
  );
});

test('R2: a target is written where a text first leads there', () => {
  const picture = '<a href="/b"><img src="/i.png" alt="Cover"></a>';
  expect(
    read(`<p>${picture} <a href="/b">the book</a>, <a href="/c">a cat</a>, <a href="/b">again</a>.</p>`),
  ).toBe(
    '[![Cover](https://example.com/i.png)](https://example.com/b) [the book](https://example.com/b), ' +
      '[a cat](https://example.com/c), again.',
  );
});

test('R2: a link in code, which is written without it, does not take the target from the text', () => {
  expect(read('<pre>f(<a href="/b">Book</a>)</pre><p>Takes a <a href="/b">Book</a>.</p>')).toContain(
    '[Book](https://example.com/b)',
  );
});

const AROUND = 'Words around it keep it where it is, in the sentence that needs it: ';

test.each([
  ['<h2><strong>First <em>step</em></strong></h2>', '# First *step*\n'],
  ['<h2>Not <b>all</b> of it</h2>', '# Not **all** of it\n'],
])('R2: a heading is not bold besides: %s', (heading, text) => {
  expect(read(heading + TEXT)).toContain(text);
});

test('R2: a link to edit that stands beside its heading does not take it away', () => {
  const section = '<div><h2>Use</h2><span class="mw-editsection">[<a href="/e">edit</a>]</span></div>';
  expect(read(section + TEXT)).toMatch(/^# Use\n\nA sentence/);
});

test.each([
  ['<pre><code>a = 1\n\n  \n</code></pre>', '```\na = 1\n```'],
  ['<div class="mw-highlight mw-highlight-lang-python"><pre>a = 1</pre></div>', '```python\na = 1\n```'],
  ['<div class="highlight-c notranslate"><div><pre>a = 1;\n</pre></div></div>', '```c\na = 1;\n```'],
  ['<div class="highlight-default notranslate"><div><pre>a = 1\n</pre></div></div>', '```\na = 1\n```'],
  ['<pre class="brush: php">a()</pre>', '```php\na()\n```'],
  ['<pre><code class="hljs javascript">a()</code></pre>', '```javascript\na()\n```'],
  ['<pre data-language="ts"><code>a()</code></pre>', '```ts\na()\n```'],
  ['<pre data-language="ts"><code class="language-js">a()</code></pre>', '```js\na()\n```'],
  ['<pre data-lang="two words"><code class="wide">a()</code></pre>', '```\na()\n```'],
])('R2: code ends with its last line and has its language: %s', (code, fence) => {
  expect(read(code)).toBe(fence);
});

test.each([
  ['src="data:image/gif;base64,R0lGOD" data-src="/x.png"', 'x.png'],
  ['data-lazy-src=" /x.png "', 'x.png'],
  ['src="" data-src="data:,x" data-original="/x.png"', 'x.png'],
  ['srcset="/r.webp, /r2.webp 2x"', 'r.webp'],
  ['src="/a.png" data-src="/x.png"', 'a.png'],
])('R2: a picture that is loaded later has its address: %s', (attributes, address) => {
  expect(read(`<p>${AROUND}<img alt="A roof" ${attributes}></p>`)).toBe(
    `${AROUND}![A roof](https://example.com/${address})`,
  );
});

test('R2: a picture that is nowhere yet says nothing beside the same one that is', () => {
  const twin = '<img alt="A roof" src="/a.png"><img alt="A roof">';
  expect(read(`<p>${AROUND}${twin}</p>`)).toBe(`${AROUND}![A roof](https://example.com/a.png)`);
  expect(read(`<p>${AROUND}<img alt="A roof" srcset="data:,x"></p>`)).toBe(`${AROUND}A roof`);
});

test('R2: of a picture for light and for dark pages one is written', () => {
  const picture = (name: string, alt = 'A roof'): string => `<img alt="${alt}" src="/${name}.png">`;
  const written = (...pictures: string[]): string =>
    read(`<p>${AROUND}${pictures.join(' ')}</p>`).slice(AROUND.length);
  const roof = '![A roof](https://example.com/roof.png)';
  expect(written(picture('roof'), picture('roof.dark'))).toBe(roof);
  expect(written(picture('roof-light'), picture('roof_Dark'))).toBe(
    '![A roof](https://example.com/roof-light.png)',
  );
  expect(written(picture('roof'), picture('darkroom'))).toBe(
    `${roof} ![A roof](https://example.com/darkroom.png)`,
  );
  expect(written(picture('roof'), picture('roof.dark', 'By night'))).toContain('By night');
  expect(written(picture('roof'), 'or', picture('roof.dark'))).toContain('dark');
});

/** A page of which all is kept. */
function readWhole(html: string): string {
  const tree = parseFully(html);
  const page = readBlocks(tree);
  const removed = new Uint8Array(tree.size);
  const form = formOf(tree, page, removed);
  const scan = {removed, roots: [DOCUMENT], layoutTables: new Set<number>(), form};
  const writer = new BlockWriter();
  const targets = new LinkTargets('https://example.com/', html.length);
  new TreeConverter(tree, scan, targets, writer).convert(DOCUMENT);
  return writer.toString().trim();
}

test('R2: a caption is not written again where its picture says it', () => {
  const picture = '![A plot, small](https://example.com/c.png)';
  const figure = (caption: string): string =>
    readWhole(
      `<figure><a><img alt="A plot, small" src="/c.png"></a><figcaption>${caption}</figcaption></figure>`,
    );
  expect(figure('A  plot, <i>small</i>')).toBe(picture);
  expect(figure('A plot')).toBe(`${picture}\n\nA plot`);
  expect(figure('A plot, <a href="/p">small</a>')).toContain('[small]');
  expect(readWhole('<img alt="A plot" src="/c.png"><p>A plot</p>')).toContain('\n\nA plot');
});

test('R2: what is beside a heading and the last there goes where it leads to an editor', () => {
  const section = (beside: string): string => readWhole(`<div><h2>Use</h2> ${beside} </div>`);
  expect(section('<span class="mw-editsection">[<a href="/e">edit</a>]</span>')).toBe('# Use');
  expect(section('<span class="mw-editsection">[<a href="/e">edit</a>]</span><p>Text')).toContain('/e');
  expect(section('<span class="edition">2</span>')).toBe('# Use\n\n2');
});

test('R2: the signs that lead back from a note go with what leads to several places', () => {
  const note = 'The title of the work that is cited here, of several words, and who wrote it. '.repeat(2);
  const back =
    '<span class="mw-cite-backlink">^ <a href="#cite_ref-1-0"><sup><i><b>a</b></i></sup></a> <a href="#cite_ref-1-1"><sup><i><b>b</b></i></sup></a></span>';
  expect(read(`<p>${back} <span>${note}</span></p>`)).toBe(note.trim());
  expect(read(`<p>${note} <a href="#fnref1">back to the text</a></p>`)).toBe(note.trim());
});

test.each([
  ['10<sup>5</sup>', '10^5'],
  ['x<sup>−1</sup>', 'x^−1'],
  ['4 km<sup>2</sup>', '4 km^2'],
  ['(a + b)<sup>2</sup>', '(a + b)^2'],
  ['H<sub>2</sub>O', 'H2O'],
  ['a note<sup>3</sup>', 'a note3'],
  ['the 9<sup>th</sup>', 'the 9th'],
  ['10<sup><b>5</b></sup>', '10**5**'],
  ['10<sup><a href="/note">5</a></sup>', '10[5](https://example.com/note)'],
])('R2: a power can be told from its number: %s', (html, text) => {
  expect(read(`<p>${AROUND}${html}.</p>`)).toBe(`${AROUND}${text}.`);
});

test('R2: a picture of a formula is its TeX', () => {
  const picture = (name: string, alt: string): string =>
    `<span><span style="display:none"><math><mi>x</mi></math></span><img class="${name}" src="/m.svg" alt="${alt}"></span>`;
  expect(
    read(`<p>${AROUND}${picture('mwe-math-fallback-image-inline', '{\\displaystyle x_{2}}')}.</p>`),
  ).toBe(`${AROUND}$\`x_{2}\`$.`);
  expect(read(`<p>${AROUND}${picture('latex', 'x^2')}.</p>`)).toBe(`${AROUND}$\`x^2\`$.`);
  expect(read(`<p>${AROUND}${picture('translatex', 'x^2')}.</p>`)).toContain('![x^2]');
});

test('R2: a link that was cut into pieces is one', () => {
  const pieces = '<a href="/m">D</a><a href="/m">ata</a> <a href="/m"><b>Model</b></a>';
  expect(read(`<p>${AROUND}${pieces} and <a href="/n">more</a><a href="/o">of it</a>.</p>`)).toBe(
    `${AROUND}[Data **Model**](https://example.com/m) and [more](https://example.com/n)[of it](https://example.com/o).`,
  );
});
