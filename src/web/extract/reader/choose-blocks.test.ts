import {describe, expect, test} from 'vitest';
import {readBlocks} from './blocks/read-blocks.ts';
import {chooseBlocks} from './choose-blocks.ts';
import {readingTree} from './reading-tree.ts';
import {SCALE} from './score/block-score.ts';

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
  const {kept} = chooseBlocks(page, scores, () => titles);
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
