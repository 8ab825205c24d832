import {linkTargetEnd} from './markdown/link-target-end.ts';

const AUTOLINK = /<(https?:[^\s<>]{1,8192})>/gi;

/**
 * The addresses that a document links to, each once, in the order in which they come; no more than `most`. Images are
 * none. Targets are absolute, as every link that was converted is.
 */
export function linksOf(markdown: string, most: number): readonly string[] {
  const links = new Set<string>();
  for (let at = markdown.indexOf(']('); at >= 0 && links.size < most; at = markdown.indexOf('](', at + 2)) {
    const end = linkTargetEnd(markdown, at + 1, markdown.length);
    if (end === undefined || isImage(markdown, at)) continue;
    const [target = ''] = markdown.slice(at + 2, end - 1).split(/\s/, 1);
    links.add(target.replace(/^<|>$/g, '').replace(/\\([!-/:-@[-`{-~])/g, '$1'));
  }
  for (const [, target = ''] of markdown.matchAll(AUTOLINK)) {
    if (links.size >= most) break;
    links.add(target);
  }
  return [...links];
}

/** `![text](target)`, of which the text holds no bracket: a picture that is itself a link ends with `)](`. */
function isImage(markdown: string, close: number): boolean {
  const open = markdown.lastIndexOf('[', close - 1);
  return open > 0 && markdown[open - 1] === '!' && !markdown.slice(open, close).includes(']');
}
