import {expect, test} from 'vitest';
import {readBlocks} from './blocks/read-blocks.ts';
import {readingTree} from './reading-tree.ts';
import {titleBlocks} from './title-blocks.ts';

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
