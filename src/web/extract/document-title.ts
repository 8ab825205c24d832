import {takeStart} from '../../core/text/take-start.ts';
import {TAG} from './tree/tag.ts';
import {textOf} from './tree/text-of.ts';
import {DOCUMENT, NONE, type Tree} from './tree/tree.ts';

/** Review R18: a title of megabytes would leave no room for the page. */
const LONGEST_TITLE = 1000;

/** FR-WF-13e, D4: the first `<title>`, else the first `<h1>` with text; both as they were before removal. */
export function documentTitle(tree: Tree): string | undefined {
  let heading: string | undefined;
  let titleSeen = false;
  for (let node = tree.firstChild(DOCUMENT); node !== NONE; node = tree.following(node, DOCUMENT)) {
    const tag = tree.tag(node);
    if (tag === TAG.title && !titleSeen) {
      titleSeen = true;
      const title = textOf(tree, node);
      if (title !== '') return bounded(title);
    } else if (tag === TAG.h1) {
      heading ||= textOf(tree, node);
    }
    if (titleSeen && heading) break;
  }
  return heading === undefined || heading === '' ? undefined : bounded(heading);
}

function bounded(title: string): string {
  return title.length <= LONGEST_TITLE ? title : `${takeStart(title, LONGEST_TITLE - 1).trimEnd()}…`;
}
