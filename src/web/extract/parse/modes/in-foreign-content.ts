import {ATTRIBUTE} from '../../tree/attribute.ts';
import type {Construction} from '../construction.ts';
import {classesOf, EXITS_FOREIGN, HTML_INTEGRATION, MATHML_TEXT_INTEGRATION} from '../element-class.ts';
import {ELEMENT, HTML, keyOf, MATHML, namespaceOf, SVG} from '../element-name.ts';
import {READ_ATTRIBUTE} from '../scan/tag-reader.ts';

const ANNOTATION_XML = keyOf(ELEMENT['annotation-xml'], MATHML);
const HTML_ENCODING = /^(?:text\/html|application\/xhtml\+xml)$/i;

/** Whether text and most start tags go into the current element as foreign content (HTML 13.2.6). */
export function isInForeign(construction: Construction): boolean {
  const {open} = construction;
  return (
    open.isForeign && !isHtmlPoint(construction) && (classesOf(open.key) & MATHML_TEXT_INTEGRATION) === 0
  );
}

/** HTML 13.2.6: whether the start tag at work, in a foreign element, is foreign content. */
export function isForeignTag(construction: Construction): boolean {
  const {open, tag} = construction;
  if (tag.name === ELEMENT.svg && open.key === ANNOTATION_XML) return false;
  if (isInForeign(construction)) return true;
  const isMathml = tag.name === ELEMENT.mglyph || tag.name === ELEMENT.malignmark;
  return isMathml && !isHtmlPoint(construction);
}

/** HTML 13.2.6.5: a start tag in foreign content; true where it ends that, and the insertion mode has to see it. */
export function startInForeign(construction: Construction): boolean {
  const {open, tag} = construction;
  if (exits(construction)) {
    popForeign(construction);
    return true;
  }
  const key = keyOf(tag.name, namespaceOf(open.key));
  if (tag.isSelfClosing) construction.append(key);
  else construction.insert(key);
  return false;
}

/** HTML 13.2.6.5: an end tag in foreign content; true where the insertion mode has to see it. */
export function endInForeign(construction: Construction): boolean {
  const {open, tag} = construction;
  if (tag.name === ELEMENT.p || tag.name === ELEMENT.br) {
    popForeign(construction);
    return true;
  }
  const slot = Math.max(open.indexOf(keyOf(tag.name, SVG)), open.indexOf(keyOf(tag.name, MATHML)));
  if (slot <= open.indexOfHtml()) return true;
  open.shortenTo(slot);
  return false;
}

function exits({tag}: Construction): boolean {
  if (tag.name === ELEMENT.font) {
    return (
      tag.hasAttribute(READ_ATTRIBUTE.color) ||
      tag.hasAttribute(READ_ATTRIBUTE.face) ||
      tag.hasAttribute(READ_ATTRIBUTE.size)
    );
  }
  return (classesOf(keyOf(tag.name, HTML)) & EXITS_FOREIGN) !== 0;
}

function popForeign(construction: Construction): void {
  while (isInForeign(construction)) construction.open.pop();
}

function isHtmlPoint({open, tree}: Construction): boolean {
  if (open.key !== ANNOTATION_XML) return (classesOf(open.key) & HTML_INTEGRATION) !== 0;
  return HTML_ENCODING.test(tree.attribute(open.node, ATTRIBUTE.encoding) ?? '');
}
