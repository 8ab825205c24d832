import {expect, test} from 'vitest';
import {extractHtml} from '../extract-html.ts';

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
