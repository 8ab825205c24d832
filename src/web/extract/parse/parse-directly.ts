import {SourceText} from '../tree/source-text.ts';
import {Tree} from '../tree/tree.ts';
import {nodeLimit} from './node-limit.ts';
import {HtmlScanner} from './scan/html-scanner.ts';
import {TreeBuilder} from './tree-builder.ts';

const EXPECTED_NODES_PER_CHARACTER = 1 / 24;

/**
 * The tree of the full algorithm in a fraction of its time, or `undefined` for a document that needs one of the rules
 * that are not here: templates, frames, `plaintext`, NUL, and what only a hostile document piles up.
 */
export function parseDirectly(html: string | SourceText): Tree | undefined {
  const written = SourceText.of(html);
  if (written.units.includes('\0')) return undefined;
  // HTML 13.2.3.5: line ends are LF.
  const source = written.units.includes('\r') ? written.replace(/\r\n?/g, '\n') : written;
  const tree = new Tree(Math.ceil(source.length * EXPECTED_NODES_PER_CHARACTER), source);
  // Half the limit, well before the full parser stops to open elements again.
  const scanner = new HtmlScanner(source);
  const builder = new TreeBuilder(tree, scanner.tag, source, nodeLimit(written.length) / 2);
  scanner.scan(builder);
  return builder.isDone ? undefined : tree;
}
