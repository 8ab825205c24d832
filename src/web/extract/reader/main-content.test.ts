import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {plainTextOf} from '../../read/markdown/plain-text-of.ts';
import {extractHtml} from '../extract-html.ts';
import {readBlocks} from './blocks/read-blocks.ts';
import {readingTree} from './reading-tree.ts';
import {BlockFeatures} from './score/block-features.ts';
import {readTrees} from './score/block-score.ts';
import {FEATURES} from './score/feature-names.ts';

const SENTENCE = 'The harbour was quiet that morning, and the boats lay close together under a low sky. ';

function read(html: string): string {
  return extractHtml(html, {baseUrl: 'https://example.com/page', honorBaseHref: false, mode: 'reader'})
    .markdown;
}

function words(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

const ARTICLE = `<title>Harbour – The Gazette</title>
<header><nav><ul>${'<li><a href="/s">Section</a>'.repeat(9)}</ul></nav></header>
<main><article><header><h1>Harbour</h1></header>
${`<p>${SENTENCE.repeat(3)}</p>`.repeat(6)}
<pre class="language-sh"><button>Copy</button>ls</pre><p>${SENTENCE.repeat(2)}</p></article>
<aside class="related"><h2>Related</h2><ul>${'<li><a href="/r">Another story of the day</a>'.repeat(6)}</ul></aside></main>
<footer><p>© The Gazette. All rights reserved. <a href="/terms">Terms</a></footer>`;

describe('R2 reader mode', () => {
  test('R2: an article keeps its title, text and code, and loses menus, related links and the footer', () => {
    const markdown = read(ARTICLE);
    expect(markdown).toContain('# Harbour\n');
    expect(markdown.split('The harbour was quiet').length - 1).toBe(20);
    expect(markdown).toContain('```sh\nls\n```');
    expect(markdown).not.toMatch(/Section|Related|Another story|rights reserved|Copy/);
  });

  test('R2: a page without structure still gives its text', () => {
    expect(read('<p>Closed today.')).toBe('Closed today.\n');
    expect(read('Just words')).toBe('Just words\n');
    expect(read(`<div>${SENTENCE.repeat(8).replaceAll('. ', '.<br><br>')}</div>`)).toContain('quiet');
    expect(read('<ul><li><a href=/a>One</a><li><a href=/b>Two</a></ul>')).toMatch(/One[\s\S]*Two/);
    expect(read('')).toBe('');
  });

  test('R2: what a reader without scripts is given is read where it is more', () => {
    const thread = `<p>${SENTENCE.repeat(5)}</p>`;
    expect(read(`<div id=app>Loading</div><noscript>${thread}</noscript>`)).toContain('harbour');
    expect(read(`<p>${SENTENCE.repeat(9)}</p><noscript>Scripts are off.</noscript>`)).not.toContain(
      'Scripts',
    );
  });

  test('R2: a rule between two kept texts stays, once, and not at an edge or beside a heading', () => {
    const text = `<p>${SENTENCE.repeat(4)}</p>`;
    const rules = (html: string): number => read(`<main>${html}</main>`).split('\n---\n').length - 1;
    expect(rules(`${text}<hr>${text}<hr><hr>${text}`)).toBe(2);
    expect(rules(`<hr>${text}<h2>Boats</h2><hr>${text}<hr><h2>Sails</h2>${text}<hr>`)).toBe(0);
    expect(rules(`${text}<hr style="display:none">${text}`)).toBe(0);
    expect(rules(`${text}<hr><p hidden>${SENTENCE}</p>${text}`)).toBe(1);
    const related = '<aside class="related"><ul><li><a href="/r">Another story</a></ul></aside>'.repeat(2);
    expect(rules(`${text.repeat(3)}<hr>${related}<hr>${text.repeat(3)}`)).toBe(0);
  });

  test('R2: hidden text is read only where there is little else', () => {
    const hidden = `<div style="display:none"><p>${SENTENCE.repeat(4)} Secret.</p></div>`;
    expect(read(`<div>Loading</div>${hidden.repeat(4)}`)).toContain('Secret');
    expect(read(`<main>${`<p>${SENTENCE.repeat(4)}</p>`.repeat(6)}${hidden}</main>`)).not.toContain('Secret');
  });

  test('R2: every word of the output is in the page, in that order', {tags: 'slow'}, () => {
    const piece = fc.constantFrom(
      ...[
        `<p>${SENTENCE}</p>`,
        '<h1>One</h1>',
        '<h3>Three <a href="#x">#</a></h3>',
        '<nav>menu</nav>',
        '<div>',
      ],
      ...[
        '</div>',
        '<ul><li>a<li>b</ul>',
        '<a href="/x">link</a>',
        '<table><tr><td rowspan=2>c<td>d<tr><td>e</table>',
      ],
      ...[
        '<aside>aside</aside>',
        '<div hidden>hid</div>',
        '<pre>code\n1</pre>',
        '<footer>foot</footer>',
        'text ',
      ],
      ...['<div class="admonition">note</div>', '<br><br>', '<dl><dt>t<dd>u</dl>', '<button>go</button>'],
    );
    fc.assert(
      fc.property(fc.array(piece, {maxLength: 40}), pieces => {
        const html = pieces.join('\n');
        const tree = readingTree(html);
        const source = words(
          readBlocks(tree)
            .leaves.map(leaf => tree.text(leaf))
            .join(' '),
        );
        let at = 0;
        for (const word of words(plainTextOf(read(html).replaceAll(/\]\([^)]*\)/g, ']')).text)) {
          const place = source.indexOf(word, at);
          expect(place, `${word} in ${html}`).toBeGreaterThanOrEqual(at);
          at = place + 1;
        }
      }),
      {numRuns: 300},
    );
  });

  test('R2: the default is the mode of the SRD', () => {
    const options = {baseUrl: 'https://example.com/', honorBaseHref: false};
    expect(extractHtml(ARTICLE, {...options, mode: 'srd'})).toEqual(extractHtml(ARTICLE, options));
  });

  test('R2: a row has every feature, and trees for another number of them are refused', () => {
    const page = readBlocks(readingTree(ARTICLE));
    const features = new BlockFeatures(page);
    for (let block = 0; block < page.blocks.units.length; block++) {
      const row = features.fill(block);
      expect(row.length).toBe(FEATURES.length);
      expect(row.every(Number.isFinite)).toBe(true);
      expect(features.filled).toBe(FEATURES.length);
    }
    expect(() => readTrees('', FEATURES.length + 1)).toThrow(/fit them anew/);
  });
});
