import {expect, test} from 'vitest';
import {extractHtml} from '../extract-html.ts';
import {readBlocks} from './blocks/read-blocks.ts';
import {readingTree} from './reading-tree.ts';

const SENTENCE = 'The harbour was quiet that morning, and the boats lay close together under a low sky. ';

function read(html: string): string {
  return extractHtml(html, {baseUrl: 'https://example.com/p', honorBaseHref: false, mode: 'reader'}).markdown;
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
