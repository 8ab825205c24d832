import {ROLE, roleOf} from '../tree/element-role.ts';
import {parseHtml} from '../tree/parse-html.ts';
import {TAG} from '../tree/tag.ts';
import {DOCUMENT, NONE, type Tree} from '../tree/tree.ts';

/** Less text than this is a notice that scripts are off. */
const LEAST_UNITS = 250;
const NOSCRIPT = /<\/?noscript(?=[\s/>])[^>]*>/gi;
const TAGS = /<[^>]*>/g;
const BLANKS = /\s+/g;

/**
 * The tree to read a document from. A page that says more to a reader without scripts than to one with them (forums
 * give their threads so) is parsed as the former sees it.
 */
export function readingTree(html: string): Tree {
  const tree = parseHtml(html);
  if (!/<noscript/i.test(html)) return tree;
  const {shown, withoutScripts} = unitsOf(tree);
  const isMore = withoutScripts >= LEAST_UNITS && withoutScripts > shown;
  return isMore ? parseHtml(html.replace(NOSCRIPT, '')) : tree;
}

/** UTF-16 units of text that are not blank, outside `noscript` and inside. */
function unitsOf(tree: Tree): {readonly shown: number; readonly withoutScripts: number} {
  let shown = 0;
  let withoutScripts = 0;
  let node = tree.firstChild(DOCUMENT);
  while (node !== NONE) {
    const tag = tree.tag(node);
    if (tag === TAG.text) shown += tree.text(node).replace(BLANKS, '').length;
    else if (tag === TAG.noscript) withoutScripts += sourceUnits(tree, node);
    const isSkipped = roleOf(tag) === ROLE.dropped && !READ.has(tag);
    node = isSkipped ? tree.followingSkipped(node, DOCUMENT) : tree.following(node, DOCUMENT);
  }
  return {shown, withoutScripts};
}

const READ: ReadonlySet<number> = new Set([TAG.nav, TAG.footer, TAG.header, TAG.aside, TAG.button]);

/** With the scripting flag on, what is inside is source. */
function sourceUnits(tree: Tree, noscript: number): number {
  const child = tree.firstChild(noscript);
  if (child === NONE || tree.tag(child) !== TAG.text) return 0;
  return tree.text(child).replace(TAGS, '').replace(BLANKS, '').length;
}
