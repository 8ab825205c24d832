import {readFileSync} from 'node:fs';
import {loadOurs} from '../load.js';

/** Peers that find the main content, or take the whole page. */
export const PEERS = /^(?:readability, linkedom|defuddle|mdream \(Rust\), minimal|turndown$)/;

export async function fullMode() {
  const {htmlToMarkdown} = await loadOurs('index.js');
  return (html, url) => htmlToMarkdown(html, url);
}

/** With the weights of the product, or with those that `fit/run.js` wrote to a file. */
export async function readerMode(file) {
  const [
    {fittedTrees, readTrees},
    {scanMainContent},
    {readingTree},
    {TreeConverter},
    {LinkTargets},
    {BlockWriter},
  ] = await Promise.all([
    loadOurs('web/extract/reader/block-score.js'),
    loadOurs('web/extract/reader/main-content.js'),
    loadOurs('web/extract/reader/reading-tree.js'),
    loadOurs('web/extract/convert-tree.js'),
    loadOurs('web/extract/link-targets.js'),
    loadOurs('web/extract/block-writer.js'),
  ]);
  const trees = file === undefined ? fittedTrees() : readWeights(readFileSync(file, 'utf8'), readTrees);
  return (html, url) => {
    const tree = readingTree(html);
    const writer = new BlockWriter();
    const targets = new LinkTargets(url, html.length);
    new TreeConverter(tree, scanMainContent(tree, trees), targets, writer).convert(1);
    return writer.toString();
  };
}

function readWeights(text, readTrees) {
  const features = Number(/FITTED_FEATURES = (\d+)/.exec(text)?.[1]);
  const bytes = [...text.matchAll(/'([A-Za-z0-9+/=]+)'/g)].map(([, line]) => line).join('');
  return readTrees(bytes, features);
}
