import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {plainTextOf} from '../../read/markdown-syntax.ts';
import {extractHtml} from '../extract-html.ts';
import {parseFully} from '../parse/parse-fully.ts';
import {TAG} from '../tree/tags.ts';
import {DOCUMENT, NONE} from '../tree/tree.ts';
import {commentsOf} from './article-parts.ts';
import {BlockFeatures} from './block-features.ts';
import {readTrees, SCALE, scoreOf} from './block-score.ts';
import {chooseBlocks, shareScores} from './choose-blocks.ts';
import {CLASS_CATEGORIES, ClassReader, evidenceOf} from './class-evidence.ts';
import {texOf} from './formulas.ts';
import {FEATURES} from './page-shape.ts';
import {readBlocks} from './read-blocks.ts';
import {readingTree} from './reading-tree.ts';
import {titleBlocks} from './title-blocks.ts';

/** A tree as `bench/reader/fit` writes it: nodes `[feature, low, high, threshold]`, where a child below 0 is leaf `~child`. */
function written(
  nodes: readonly (readonly [number, number, number, number])[],
  leaves: readonly number[],
): Buffer {
  const bytes = Buffer.alloc(1 + 7 * nodes.length + 2 * leaves.length);
  bytes.writeUInt8(nodes.length, 0);
  for (const [at, [feature, low, high, threshold]] of nodes.entries()) {
    bytes.writeUInt8(feature, 1 + 7 * at);
    bytes.writeInt8(low, 2 + 7 * at);
    bytes.writeInt8(high, 3 + 7 * at);
    bytes.writeFloatLE(threshold, 4 + 7 * at);
  }
  for (const [at, leaf] of leaves.entries()) bytes.writeInt16LE(leaf, 1 + 7 * nodes.length + 2 * at);
  return bytes;
}

function score(trees: readonly Buffer[], features: Readonly<Record<number, number>>): number {
  const row = new Float64Array(FEATURES.length);
  for (const [feature, value] of Object.entries(features)) row[Number(feature)] = value;
  return scoreOf(row, readTrees(Buffer.concat(trees).toString('base64'), FEATURES.length));
}

// The second node leads to leaves, the first to it and, for what is larger, to the third.
const TREE = written(
  [
    [5, 1, 2, 0.5],
    [7, ~0, ~1, -2],
    [203, ~2, ~3, 1000],
  ],
  [1, 20, -300, 32_767],
);

test.each([
  [{5: 0.5, 7: -2}, 1],
  [{5: 0.5, 7: -1.9}, 20],
  [{5: 0.6, 203: 1000}, -300],
  [{5: 0.6, 203: 1001}, 32_767],
])('R2: a tree leads a block with %j to a leaf: a value at the threshold to the lower one', (row, sum) => {
  expect(score([TREE], row)).toBe(sum);
});

test('R2: the score is the sum of all trees, of which one may be a leaf alone', () => {
  const leaf = written([], [-32_768]);
  expect(score([leaf, TREE, leaf, TREE], {5: 1, 203: 1001})).toBe(2 * 32_767 - 2 * 32_768);
  expect(score([], {})).toBe(0);
});

const TEXT = `<p>${'The harbour was quiet that morning, and the boats lay close together. '.repeat(4)}</p>`;

/** What is kept but `TEXT`: a block's text, or the name of its picture. `odds` are by text, and 3 for any other. */
function keptOf(html: string, odds: Readonly<Record<string, number>>, title?: string): readonly string[] {
  const tree = readingTree(html);
  const page = readBlocks(tree);
  const {blocks, leaves} = page;
  const texts = blocks.firstLeaf.map((first, block) =>
    leaves
      .slice(first, blocks.firstLeaf[block + 1] ?? leaves.length)
      .map(leaf => (blocks.units[block] === 0 ? 'picture' : tree.text(leaf).trim()))
      .join(' '),
  );
  const scores = Float64Array.from(texts, text => (odds[text] ?? 3) * SCALE);
  const titles = title === undefined ? [] : [texts.indexOf(title)];
  const {kept} = chooseBlocks(page, scores, {
    headlineOf: () => ({blocks: titles, isInTitle: false}),
    commentsOf: keptBlocks => commentsOf(tree, page, keptBlocks),
  });
  return texts.filter((text, block) => kept[block] === 1 && !text.startsWith('The harbour'));
}

describe('headings', () => {
  test('R2: a link or a button that is dropped between a heading and its text does not take the heading away', () => {
    const odds = {Boats: -1, Next: -2, Share: -2};
    const link = '<a href="/next" role="button">Next</a>';
    expect(keptOf(`<section><h3>Boats</h3>${link}${TEXT}</section>`, odds)).toEqual(['Boats']);
    expect(keptOf(`<div><h3>Boats</h3></div><button>Share</button>${TEXT}`, odds)).toEqual(['Boats']);
    expect(keptOf(`<h3>Boats</h3>${`<div>${link}</div>`.repeat(4)}${TEXT}`, odds)).toEqual([]);
  });

  test('R2: other text that is dropped below a heading takes it away, and so does a list with a box of its own', () => {
    const odds = {Boats: -1, 'Five minutes to read': -2, Next: -2, Share: -2};
    expect(keptOf(`<h3>Boats</h3><p>Five minutes to read</p>${TEXT}`, odds)).toEqual([]);
    const list = '<ul><li><a href="/next">Next</a><li><a href="/share">Share</a></ul>';
    expect(keptOf(`${TEXT}<div><h3>Boats</h3>${list}</div>${TEXT}`, odds)).toEqual([]);
  });

  test('R2: a heading right above one of a higher rank has no text of its own', () => {
    const odds = {Boats: -1, Teaser: -1, Sails: -1};
    const read = (teaser: string): readonly string[] =>
      keptOf(`<h3>Boats</h3>${TEXT}${teaser}<h3>Sails</h3>${TEXT}`, odds);
    expect(read('<h4>Teaser</h4>')).toEqual(['Boats', 'Sails']);
    expect(read('<h2>Teaser</h2>')).toEqual(['Boats', 'Teaser', 'Sails']);
  });

  test('policy: headings of one rank right above each other are a list, and stay', () => {
    const odds = {Boats: -1, Sails: -1};
    expect(keptOf(`<h3>Boats</h3><h3>Sails</h3>${TEXT}`, odds)).toEqual(['Boats', 'Sails']);
    expect(keptOf(`<h3>Boats<br><br>Sails</h3>${TEXT}`, odds)).toEqual(['Boats', 'Sails']);
  });

  test('R2: a heading that alone is left below all text goes', () => {
    const odds = {Links: 1, 'All of them': -2};
    expect(keptOf(`${TEXT}<h2>Links</h2><p>All of them</p>`, odds)).toEqual([]);
    expect(keptOf(`${TEXT}<h2>Links<br><br>Lists</h2><p>All of them</p>`, odds)).toEqual([]);
    expect(keptOf(`${TEXT}<h2>Links</h2><p>All of them</p>`, odds, 'Links')).toEqual(['Links']);
    expect(keptOf(`${TEXT}<h2>Links</h2><h2>Lists</h2>`, odds)).toEqual(['Links', 'Lists']);
  });

  test('R2: headings stay where a page has no other text', () => {
    const heading = `<h2>${'Boats at dawn '.repeat(20)}</h2>`;
    expect(keptOf(heading, {})).toHaveLength(1);
  });
});

describe('pictures', () => {
  test('R2: a caption that is dropped does not take its picture with it', () => {
    const odds = {'Photo by Nina': -2, 'An advertisement': -2};
    const figure = '<figure><img src="/a.png" alt="A boat"><figcaption>Photo by Nina</figcaption></figure>';
    expect(keptOf(`${TEXT}${figure}${TEXT}`, odds)).toEqual(['picture']);
    expect(keptOf(`${TEXT}${figure}<p>An advertisement</p>${TEXT}`, odds)).toEqual([]);
    expect(keptOf(`${TEXT}${figure}<p>An advertisement</p>${TEXT}`, {'An advertisement': -2})).toEqual([
      'picture',
      'Photo by Nina',
    ]);
  });
});

describe('an article', () => {
  const SURE = {'Photo by Nina': 1.5, 'More stories': 0.8, 'Sold by Nina': 0.8};
  const MORE = '<div class="more"><p>More stories</p></div>';

  test('R2: what follows its container goes unless it is plainly content', () => {
    const article = `<div>${TEXT.repeat(3)}</div>`;
    expect(keptOf(article + MORE, SURE)).toEqual([]);
    expect(keptOf(article + MORE, {'More stories': 1.2})).toEqual(['More stories']);
    // Posts in boxes of their own are no article.
    const posts = `<div>${`<section><div>${TEXT}</div></section>`.repeat(3)}</div>`;
    expect(keptOf(posts + MORE, SURE)).toEqual(['More stories']);
  });

  test('R2: comments on it go, and the replies of a thread stay', () => {
    const page = (around: string): string =>
      `<main><div class="${around}"><div class="post">${TEXT.repeat(3)}</div>
      <div class="comments"><p>I was there</p></div></div></main>`;
    expect(keptOf(page('entry category-open-threads'), {})).toEqual([]);
    expect(keptOf(page('thread'), {})).toEqual(['I was there']);
    expect(keptOf(page('wrapper').replace('post', 'text'), {})).toEqual(['I was there']);
  });

  test('R2: its captions are no text', () => {
    const figure = '<figure><img src="/a.png" alt="A boat"><figcaption>Photo by Nina</figcaption></figure>';
    expect(keptOf(`<div>${TEXT}${figure}${TEXT}</div>`, SURE)).toEqual(['picture']);
  });

  test('R2: of a page in doubt what is less likely than not is kept too', () => {
    expect(keptOf(`<div>${TEXT.repeat(2)}<p>Sold by Nina</p></div>`, {'Sold by Nina': -0.4})).toEqual([]);
    const doubt = `<div>${TEXT.replaceAll('The harbour', 'A harbour').repeat(2)}<p>Sold by Nina</p></div>`;
    expect(keptOf(doubt, {'Sold by Nina': -0.4, [textOf(doubt)]: 0.2})).toContain('Sold by Nina');
  });
});

/** Of the first paragraph. */
function textOf(html: string): string {
  return /<p>(.*?)<\/p>/.exec(html)?.[1]?.trim() ?? '';
}

function shared(html: string, scores: readonly number[]): readonly number[] {
  const page = readBlocks(readingTree(html));
  expect(page.blocks.units).toHaveLength(scores.length);
  return [...shareScores(page, Float64Array.from(scores))];
}

test('R2: of four blocks with one path each has six tenths of its score from the mean', () => {
  expect(shared('<p>a<p>b<p>c<p>d', [10, 10, 10, -10])).toEqual([7, 7, 7, -1]);
  expect(shared('<p>a<p>b<p>c<p class="x">d', [10, 10, 10, -10])).toEqual([10, 10, 10, -10]);
  expect(shared('<p>a<p>b<p>c', [10, 10, -10])).toEqual([10, 10, -10]);
});

test('R2: in the mean a block weighs by its words, thirty at most', () => {
  const words = 'word '.repeat(40);
  expect(shared(`<p>a<p>b<p>c<p>${words}`, [37, 0, 0, 0])).toEqual(
    [16, 1.2, 1.2, 1.2].map(x => expect.closeTo(x, 9)),
  );
});

test('R2: hidden blocks and pictures neither give nor take', () => {
  const html = '<p>a<p>b<p>c<p><img src="/a.png"><p hidden>d<p hidden>e<p hidden>f<p hidden>g';
  const scores = [10, 10, -10, 0, -9, 9, -9, 9];
  expect(shared(html, scores)).toEqual(scores);
});

test('R2: a list has one score', () => {
  const html = '<p>a</p><ul><li>b</li><li>c</li></ul><p>d</p><p>e</p>';
  expect(shared(html, [8, 4, -2, 8, 8])).toEqual([8, 1, 1, 8, 8]);
});

function categoriesOf(names: string): readonly string[] {
  return evidenceOf(names).categories.map(category => CLASS_CATEGORIES[category] ?? '');
}

test.each([
  ['nav', ['navigation']],
  ['NAV', ['navigation']],
  ['siteNav', ['navigation']],
  ['main-nav_2 footer', ['navigation', 'footer']],
  ['footer nav footer', ['footer', 'navigation']],
  // Of a run of capitals with a word behind it nothing is known, and a part of a word is no word.
  ['XYNav', []],
  ['navx', []],
  ['xnav', []],
  ['', []],
  ['1 2', []],
])('R2: the words of a class "%s" say of its element what it may be', (names, categories) => {
  expect(categoriesOf(names)).toEqual(categories.length === 0 ? [] : expect.arrayContaining(categories));
  expect(new Set(categoriesOf(names)).size).toBe(categoriesOf(names).length);
});

test('R2: classes that differ in digits only have one signature', () => {
  const {signature} = evidenceOf('item-1 row');
  expect(evidenceOf('item-27 row').signature).toBe(signature);
  expect(evidenceOf('item-1 column').signature).not.toBe(signature);
  expect(evidenceOf('row item-1').signature).not.toBe(signature);
});

test('R2: of a class attribute without an end the beginning is read', () => {
  const machineMade = 'x'.repeat(395);
  expect(categoriesOf(`${machineMade} nav`)).toContain('navigation');
  expect(categoriesOf(`${machineMade}xx nav`)).toEqual([]);
  expect(evidenceOf(`${machineMade}xxxxx a`)).toEqual(evidenceOf(`${machineMade}xxxxx b`));
});

test('R2: what comes again is read once', () => {
  const reader = new ClassReader();
  expect(reader.read('nav')).toBe(reader.read('nav'));
  expect(reader.read('nav')).toEqual(evidenceOf('nav'));
});

function tex(content: string, attributes = ''): string {
  const tree = parseFully(`<p><math ${attributes}>${content}</math></p>`);
  let node = tree.firstChild(DOCUMENT);
  while (node !== NONE && tree.tag(node) !== TAG.math) node = tree.following(node, DOCUMENT);
  return texOf(tree, node);
}

const SUM = '<mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>0</mn></mrow><mi>n</mi>';

test.each([
  ['<mi>x</mi><mo>=</mo><mn>12.5</mn>', 'x=12.5'],
  ['<mfrac><mrow><mo>−</mo><mi>b</mi></mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac>', '\\frac{-b}{2a}'],
  ['<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>', '{n \\atop k}'],
  ['<msup><mi>x</mi><mn>2</mn></msup>', 'x^2'],
  ['<msup><mi>x</mi><mn>10</mn></msup>', 'x^{10}'],
  ['<msup><mn>10</mn><mrow><mo>−</mo><mn>3</mn></mrow></msup>', '10^{-3}'],
  ['<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>2</mn></msup>', '{(a)}^2'],
  ['<msub><mi>a</mi><mi>i</mi></msub>', 'a_i'],
  ['<msubsup><mi>a</mi><mi>i</mi><mn>2</mn></msubsup>', 'a_i^2'],
  ['<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>', '\\sqrt{a+b}'],
  ['<mroot><mi>a</mi><mn>3</mn></mroot>', '\\sqrt[3]{a}'],
  [`<munderover>${SUM}</munderover>`, '∑_{i=0}^n'],
  [`<msubsup>${SUM}</msubsup>`, '∑_{i=0}^n'],
  ['<munder><mi>lim</mi><mi>x</mi></munder>', '\\lim_x'],
  ['<munder><mi>a</mi><mi>b</mi></munder>', '\\underset{b}{a}'],
  ['<munder><mi>a</mi><mo>_</mo></munder>', '\\underline{a}'],
  ['<mover><mo>∫</mo><mn>1</mn></mover>', '∫^1'],
  ['<mover><mi>a</mi><mo>→</mo></mover>', '\\vec{a}'],
  ['<mover><mi>a</mi><mi>b</mi></mover>', '\\overset{b}{a}'],
  ['<munderover><mi>a</mi><mi>b</mi><mi>c</mi></munderover>', '\\underset{b}{\\overset{c}{a}}'],
  [
    '<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr> <mtr><mtd><mi>c</mi></mtd></mtr></mtable>',
    '\\begin{matrix} a & b \\\\ c \\end{matrix}',
  ],
  ['<mi>sin</mi><mi>x</mi>', '\\sin x'],
  ['<mi>sin</mi><mo>(</mo>', '\\sin('],
  ['<mi>area</mi>', '\\mathrm{area}'],
  ['<mi>a</mi><mtext>\u00a0if 5%  of </mtext>', 'a\\text{ if 5\\% of }'],
  ['<mi>a</mi><mtext> </mtext>', 'a'],
  ['<mo>{</mo><mi>f</mi><mo>\u2061</mo><mi>x</mi><mo>}</mo>', '\\{fx\\}'],
  ['<mrow><mi>a</mi><mspace width="1em"/></mrow>', 'a'],
  ['<semantics><mi>a</mi><annotation-xml><mi>b</mi></annotation-xml></semantics>', 'a'],
  ['', ''],
])('R2: MathML %s is TeX', (content, expected) => {
  expect(tex(content)).toBe(expected);
});

test('R2: what a formula says of itself goes before what its elements mean, where it is TeX', () => {
  expect(tex('<mi>x</mi>', 'alttext="\\hat{x}"')).toBe('\\hat{x}');
  expect(tex('<mi>x</mi>', 'alttext="the letter x"')).toBe('x');
});

test('policy: a formula that is deeper than anybody writes ends as text, and takes no longer', () => {
  const deep = (levels: number): string =>
    `${'<msqrt>'.repeat(levels)}<mi>x</mi>${'</msqrt>'.repeat(levels)}`;
  expect(tex(deep(47))).toBe(`${'\\sqrt{'.repeat(47)}x${'}'.repeat(47)}`);
  expect(tex(deep(400))).toBe(`${'\\sqrt{'.repeat(48)}\\text{x}${'}'.repeat(48)}`);
});

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
    const {markdown, title} = extractHtml(ARTICLE, {
      baseUrl: 'https://example.com/page',
      honorBaseHref: false,
      mode: 'reader',
    });
    expect(title).toBe('Harbour – The Gazette');
    expect(markdown.split('The harbour was quiet').length - 1).toBe(20);
    expect(markdown).toContain('```sh\nls\n```');
    expect(markdown).not.toMatch(/Section|Related|Another story|rights reserved|Copy/);
  });

  test('R2: a headline that the title says stands above the text alone; any other stays in it', () => {
    expect(read(ARTICLE)).not.toContain('# Harbour');
    expect(read(ARTICLE.replace('Harbour –', 'Boats –'))).toContain('# Harbour\n');
    expect(read(ARTICLE.replace(/<title>.*<\/title>/, ''))).toContain('# Harbour\n');
  });

  const POST = `<p>${SENTENCE.repeat(4)}</p>`;
  test('R2: teasers before the headline go, and what leads into the article stays', () => {
    const teasers = `<div class="row">${'<p>Another story of the day, in a few words, of boats that came late to the harbour.</p>'.repeat(3)}</div>`;
    const page = `<title>Boats</title>${teasers}<article><h1>Boats</h1><p>What leads into it is kept, and says what the harbour is for.</p>${POST.repeat(8)}</article>`;
    expect(read(page)).not.toContain('Another story');
    expect(read(page)).toContain('What leads into it');
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
    expect(extractHtml(ARTICLE, {...options, mode: 'full'})).toEqual(extractHtml(ARTICLE, options));
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

describe('reading tree', () => {
  function read(html: string): string {
    return extractHtml(html, {baseUrl: 'https://example.com/p', honorBaseHref: false, mode: 'reader'})
      .markdown;
  }

  function paragraph(name: string): string {
    return `<p>${name} ${SENTENCE.repeat(3)}</p>`;
  }

  /** The first words of the paragraphs, in order. */
  function names(markdown: string): readonly string[] {
    return markdown.match(/^(?:One|Two|Three|Four)\b/gm) ?? [];
  }

  test('R2: what React streams late is read in its place', () => {
    const page = `<main>${paragraph('One')}<template id="B:0"></template>${paragraph('Four')}</main>
    <div hidden id="S:1">${paragraph('Three')}</div>
    <div hidden id="S:0">${paragraph('Two')}<template id="P:1"></template></div>`;
    expect(names(read(page))).toEqual(['One', 'Two', 'Three', 'Four']);
  });

  test('R2: a hidden element without a place is no segment', () => {
    const page = `<main>${paragraph('One')}${paragraph('One')}<template id="B:0"></template></main>
    <div hidden id="S:1">${paragraph('Two')}</div><div hidden id="x">${paragraph('Three')}</div>`;
    expect(names(read(page))).toEqual(['One', 'One']);
  });

  test('R2: segments that hold the places of each other stay hidden', () => {
    const page = `<main>${paragraph('One')}</main>
    <div hidden id="S:0">${paragraph('Two')}<template id="B:1"></template></div>
    <div hidden id="S:1">${paragraph('Three')}<template id="B:0"></template></div>`;
    expect(names(read(page))).toEqual(['One']);
  });

  test('R2: segments within segments make no tree of any depth', () => {
    const count = 3000;
    const segments = Array.from(
      {length: count},
      (_, at) =>
        `<div hidden id="S:${at.toString(16)}"><div>a<template id="B:${(at + 1).toString(16)}"></template></div></div>`,
    );
    const page = `<main>${paragraph('One')}<template id="B:0"></template></main>${segments.reverse().join('')}`;
    const {elements} = readBlocks(readingTree(page));
    expect(Math.max(...elements.depth)).toBeLessThan(300);
    expect(names(read(page))).toEqual(['One']);
  });
});

/** The words of the heading that is taken for the title. */
function titleOf(html: string, title: string, withHidden = false): string {
  const tree = readingTree(html);
  const page = readBlocks(tree);
  const {blocks, leaves} = page;
  return titleBlocks(tree, page, title, withHidden)
    .flatMap(block => leaves.slice(blocks.firstLeaf[block], blocks.firstLeaf[block + 1] ?? leaves.length))
    .map(leaf => tree.text(leaf).trim())
    .join(' ');
}

const SITE = '<h1><a href="/">The Daily Harbour</a></h1>';

test('R2: the heading of the page comes before that of the site, though the title names both', () => {
  const html = `${SITE}<h1>Boats at dawn</h1><h1>More to read</h1>`;
  expect(titleOf(html, 'Boats at dawn | The Daily Harbour')).toBe('Boats at dawn');
  expect(titleOf(html, 'Dawn boats – The Daily Harbour of today')).toBe('Boats at dawn');
});

test('R2: the heading that has most of the title is it', () => {
  const html = '<h1>Boats</h1><h1>Boats at dawn and how to find them</h1><h1>Boats at sea</h1>';
  expect(titleOf(html, 'Boats at dawn and how to find them')).toBe('Boats at dawn and how to find them');
});

test('R2: a heading that is a link is the title where no other is', () => {
  expect(titleOf('<h1><a href="/boats">Boats at dawn</a></h1>', 'Boats at dawn')).toBe('Boats at dawn');
});

test('R2: where no heading has words of the title it is the first that is no link', () => {
  expect(titleOf(`${SITE}<h1>Key facts</h1><h1>Further facts</h1>`, 'Welcome')).toBe('Key facts');
  expect(titleOf('<h1>Key facts</h1>', 'Welcome')).toBe('Key facts');
});

test('R2: without an h1 it is the lower heading that is half of the title', () => {
  const html = '<h2>Boats</h2><h2>Boats at dawn</h2><h3>Dawn</h3>';
  expect(titleOf(html, 'Boats at dawn | Harbour')).toBe('Boats at dawn');
  expect(titleOf('<h2>Dawn</h2>', 'Boats at dawn | Harbour')).toBe('');
});

test('R2: paragraphs and breaks within a heading are parts of it, and so are headings', () => {
  const html = '<h1><p>Boats</p><p>at<br><br>dawn</p><h4>and dusk</h4></h1><p>Text</p>';
  expect(titleOf(html, 'Boats at dawn')).toBe('Boats at dawn');
  expect(titleOf('<h1><div>Boats</div><div>at dawn</div></h1>', 'Boats at dawn')).toBe('Boats at dawn');
});

test('R2: hidden headings count where hidden text is read', () => {
  const html = '<div hidden><h1>Boats at dawn</h1></div>';
  expect(titleOf(html, 'Boats at dawn')).toBe('');
  expect(titleOf(html, 'Boats at dawn', true)).toBe('Boats at dawn');
});

test('R2: of headings that are alike the highest is the title, and of those the first', () => {
  expect(titleOf('<h4>Boats at dawn</h4><h2>Boats At Dawn</h2>', 'Boats at dawn')).toBe('Boats At Dawn');
  expect(titleOf('<h2>Boats at dawn</h2><h2>Boats At Dawn</h2>', 'Boats at dawn')).toBe('Boats at dawn');
  expect(titleOf('<h2>Boats at dawn</h2><h4>Boats At Dawn</h4>', 'Boats at dawn')).toBe('Boats at dawn');
});
