import {ATTRIBUTE} from './attribute.ts';
import type {Tree} from './tree.ts';

/** Where pages put the address of a picture that a script loads when a reader comes near. */
const LATER = [ATTRIBUTE['data-src'], ATTRIBUTE['data-lazy-src'], ATTRIBUTE['data-original']];

/** R2: the address of a picture, also where it is not loaded yet; '' where there is none. */
export function pictureSource(tree: Tree, picture: number): string {
  const source = tree.attribute(picture, ATTRIBUTE.src)?.trim() ?? '';
  // What holds the place is a picture of one dot or a blur.
  if (source !== '' && !/^data:/i.test(source)) return source;
  for (const name of LATER) {
    const later = tree.attribute(picture, name)?.trim() ?? '';
    if (later !== '' && !/^data:/i.test(later)) return later;
  }
  return firstOf(tree.attribute(picture, ATTRIBUTE.srcset) ?? '');
}

/** HTML 4.8.4.2.1: an address, then how wide or dense the picture is. */
function firstOf(srcset: string): string {
  const [first = ''] = srcset.trim().split(/\s/, 1);
  let end = first.length;
  while (end > 0 && first[end - 1] === ',') end--;
  return /^data:/i.test(first) ? '' : first.slice(0, end);
}
