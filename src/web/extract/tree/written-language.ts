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
/** Sphinx names it two elements further out. */
const MOST_LEVELS = 3;

/** R2: the language that an element of code or one around it names; '' where none does. */
export function writtenLanguage(tree: Tree, element: number): string {
  let node = element;
  for (let level = 0; level < MOST_LEVELS && node !== NONE; level++) {
    const named = languageOn(tree, node);
    if (named !== '') return NO_LANGUAGE.test(named) ? '' : named;
    node = tree.parent(node);
  }
  return '';
}

function languageOn(tree: Tree, node: number): string {
  const given =
    tree.attribute(node, ATTRIBUTE['data-lang']) ?? tree.attribute(node, ATTRIBUTE['data-language']);
  if (given !== undefined && /^[\w+#.-]{1,40}$/.test(given)) return given;
  const names = tree.attribute(node, ATTRIBUTE.class) ?? '';
  for (const pattern of names === '' ? [] : IN_CLASS) {
    const language = pattern.exec(names)?.[1];
    if (language !== undefined) return language;
  }
  return '';
}
