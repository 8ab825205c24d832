import {ATTRIBUTE} from './attribute.ts';
import {NONE, type Tree} from './tree.ts';

/**
 * How MediaWiki, SyntaxHighlighter, Pandoc, highlight.js, Sphinx and Sandpack name the language of code. The last class
 * of highlight.js and Pandoc is one only beside the other one.
 */
const IN_CLASS = [
  /(?:^|\s)mw-highlight-lang-([\w+#.-]{1,40})(?!\S)/,
  /(?:^|\s)brush:\s*([\w+#.-]{1,40})/,
  /(?:^|\s)(?:sourceCode|hljs)\s+([\w+#.-]{1,40})\s*$/,
  /(?:^|\s)highlight-([\w+#.]{1,40})\s+notranslate(?!\S)/,
  /(?:^|\s)sp-(javascript|typescript|html|css|json)(?!\S)/,
];
/** Names of no language. */
const NO_LANGUAGE =
  /^(?:copyable|default|highlight|literal|none|no-?highlight|notranslate|plain|plaintext|text|txt)$/i;
/** More than any page needs, and little enough to be looked at once for each of a thousand elements inside. */
const MOST_UNITS = 300;
/** Sphinx names it two elements further out. */
const LEVELS = 3;

/** R2: the language that a `pre` or an element around it names; '' where none does. */
export function languageAround(tree: Tree, pre: number): string {
  let node = pre;
  for (let level = 0; level < LEVELS && node !== NONE; level++) {
    const named = languageOn(tree, node);
    if (named !== '') return named;
    node = tree.parent(node);
  }
  return '';
}

/** R2: the language that an element itself names; '' where it names none. */
export function languageOn(tree: Tree, node: number): string {
  const named = nameOn(tree, node);
  return NO_LANGUAGE.test(named) ? '' : named;
}

function nameOn(tree: Tree, node: number): string {
  const given =
    tree.attribute(node, ATTRIBUTE['data-lang']) ?? tree.attribute(node, ATTRIBUTE['data-language']);
  if (given !== undefined && /^[\w+#.-]{1,40}$/.test(given)) return given;
  const names = tree.attribute(node, ATTRIBUTE.class)?.slice(0, MOST_UNITS) ?? '';
  for (const pattern of names === '' ? [] : IN_CLASS) {
    const language = pattern.exec(names)?.[1];
    if (language !== undefined) return language;
  }
  return '';
}
