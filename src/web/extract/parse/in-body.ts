// The insertion mode "in body". (HTML 13.2.6.4.7)

import {NONE} from '../tree/tree.ts';
import {
  BUTTON_SCOPE,
  classesOf,
  ELEMENT,
  ELEMENT_NAMES,
  type ElementName,
  HEADING,
  HTML,
  KEY,
  keyOf,
  LIST_ITEM_SCOPE,
  MATHML,
  SCOPE,
  SPECIAL,
  SVG,
  TABLE_STRUCTURE,
} from './element-names.ts';
import {startMetadata} from './in-head.ts';
import {type Construction, MODE, RAWTEXT, RCDATA} from './tree-state.ts';

type Rule = (construction: Construction, key: number) => void;

const START_RULES: Rule[] = ELEMENT_NAMES.map(() => startOrdinary);

/** HTML 13.2.6.4.7: a start tag in the body. */
export function startInBody(construction: Construction): void {
  const rule = START_RULES[construction.tag.name] ?? startOrdinary;
  rule(construction, construction.tag.key);
}

function onStart(names: readonly (ElementName | readonly ElementName[])[], rule: Rule): void {
  for (const name of names.flat()) START_RULES[ELEMENT[name]] = rule;
}

function startOrdinary(construction: Construction, key: number): void {
  construction.reconstruct();
  construction.insert(key);
}

onStart(
  ['caption', 'col', 'colgroup', 'frame', 'head', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr'],
  () => {},
);

onStart(
  [
    ['p', 'dl', 'ol', 'ul', 'div', 'dir', 'nav', 'main', 'menu', 'aside', 'center', 'figure', 'footer'],
    ['header', 'hgroup', 'dialog', 'details', 'address', 'article', 'search', 'section', 'summary'],
    ['fieldset', 'blockquote', 'figcaption'],
  ],
  (construction, key) => {
    construction.closeParagraph();
    construction.insert(key);
  },
);

onStart(
  ['b', 'big', 'code', 'em', 'font', 'i', 's', 'small', 'strike', 'strong', 'tt', 'u'],
  startFormatting,
);

function startFormatting(construction: Construction, key: number): void {
  construction.reconstruct();
  construction.formatting.push(key, construction.insert(key));
}

const OUTER_ROUNDS = 8;
const INNER_ROUNDS = 3;

onStart(['a'], (construction, key) => {
  const {formatting, open} = construction;
  const entry = formatting.newestOf(key);
  if (entry !== -1) {
    const node = formatting.nodeAt(entry);
    runAdoptionAgency(construction, key);
    const left = formatting.indexOf(node);
    if (left !== -1) formatting.remove(left);
    const slot = open.indexOfNode(node);
    if (slot !== -1) open.removeAt(slot);
  }
  startFormatting(construction, key);
});

onStart(['nobr'], (construction, key) => {
  construction.reconstruct();
  if (construction.open.hasInScope(key, SCOPE)) {
    runAdoptionAgency(construction, key);
    construction.reconstruct();
  }
  construction.formatting.push(key, construction.insert(key));
});

onStart(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'], (construction, key) => {
  construction.closeParagraph();
  if ((classesOf(construction.open.key) & HEADING) !== 0) construction.open.pop();
  construction.insert(key);
});

onStart(['pre', 'listing'], (construction, key) => {
  construction.closeParagraph();
  construction.insert(key);
  construction.skipsLineFeed = true;
});

onStart(['li'], (construction, key) => startListItem(construction, key, key));
onStart(['dd', 'dt'], (construction, key) =>
  startListItem(construction, key, key === KEY.dd ? KEY.dt : KEY.dd),
);

function startListItem(construction: Construction, key: number, otherKey: number): void {
  const before = construction.open.indexOfListItem(key, otherKey);
  if (before !== -1) construction.open.shortenTo(before);
  construction.closeParagraph();
  construction.insert(key);
}

onStart(['br', 'img', 'wbr', 'area', 'embed', 'keygen', 'input'], appendReconstructed);
onStart(['image'], construction => appendReconstructed(construction, KEY.img));
onStart(['param', 'track', 'source'], (construction, key) => construction.append(key));

function appendReconstructed(construction: Construction, key: number): void {
  construction.reconstruct();
  construction.append(key);
}

onStart(['hr'], (construction, key) => {
  construction.closeParagraph();
  construction.append(key);
});

onStart(['rb', 'rtc'], (construction, key) => {
  if (construction.open.hasInScope(KEY.ruby, SCOPE)) construction.open.popImpliedEnds();
  construction.insert(key);
});

onStart(['rt', 'rp'], (construction, key) => {
  if (construction.open.hasInScope(KEY.ruby, SCOPE)) construction.open.popImpliedEndsBut(KEY.rtc);
  construction.insert(key);
});

onStart(['svg'], construction => startForeign(construction, SVG));
onStart(['math'], construction => startForeign(construction, MATHML));

function startForeign(construction: Construction, namespace: number): void {
  construction.reconstruct();
  const key = keyOf(construction.tag.name, namespace);
  if (construction.tag.isSelfClosing) construction.append(key);
  else construction.insert(key);
}

onStart(
  ['base', 'link', 'meta', 'style', 'title', 'script', 'bgsound', 'basefont', 'template'],
  startMetadata,
);

onStart(['iframe', 'noembed', 'noframes', 'noscript'], (construction, key) =>
  construction.insertRawText(key, RAWTEXT),
);

onStart(['xmp'], (construction, key) => {
  construction.closeParagraph();
  construction.reconstruct();
  construction.insertRawText(key, RAWTEXT);
});

onStart(['textarea'], (construction, key) => {
  construction.insertRawText(key, RCDATA);
  construction.skipsLineFeed = true;
});

onStart(['html'], construction => construction.adoptAttributes(construction.open.nodeAt(0), HTML));

onStart(['body'], construction => {
  const {open} = construction;
  if (open.keyAt(1) === KEY.body) construction.adoptAttributes(open.nodeAt(1), HTML);
});

onStart(['form'], (construction, key) => {
  if (construction.formNode !== NONE) return;
  construction.closeParagraph();
  construction.formNode = construction.insert(key);
});

onStart(['table'], (construction, key) => {
  if (!construction.isQuirks) construction.closeParagraph();
  construction.insert(key);
  construction.mode = MODE.inTable;
});

onStart(['button'], (construction, key) => {
  if (construction.open.hasInScope(key, SCOPE)) construction.open.popThrough(key);
  startOrdinary(construction, key);
});

onStart(['applet', 'object', 'marquee'], (construction, key) => {
  startOrdinary(construction, key);
  construction.formatting.insertMarker();
});

onStart(['select'], (construction, key) => {
  startOrdinary(construction, key);
  const isInTable = construction.mode >= MODE.inTable && construction.mode <= MODE.inCell;
  construction.mode = isInTable ? MODE.inSelectInTable : MODE.inSelect;
});

onStart(['option', 'optgroup'], (construction, key) => {
  if (construction.open.key === KEY.option) construction.open.pop();
  startOrdinary(construction, key);
});

// Rare, and far-reaching.
onStart(['frameset', 'plaintext'], construction => {
  construction.isBeyond = true;
});

const END_RULES: Rule[] = ELEMENT_NAMES.map(() => endOrdinary);

/** HTML 13.2.6.4.7: an end tag in the body. */
export function endInBody(construction: Construction): void {
  const rule = END_RULES[construction.tag.name] ?? endOrdinary;
  rule(construction, construction.tag.key);
}

function onEnd(names: readonly (ElementName | readonly ElementName[])[], rule: Rule): void {
  for (const name of names.flat()) END_RULES[ELEMENT[name]] = rule;
}

onEnd(
  [['a', 'b', 'big', 'code', 'em', 'font', 'i', 'nobr', 's', 'small', 'strike', 'strong', 'tt', 'u']],
  runAdoptionAgency,
);

onEnd(['p'], construction => {
  if (!construction.open.hasInScope(KEY.p, BUTTON_SCOPE)) construction.insertImplied(KEY.p);
  construction.closeParagraph();
});

onEnd(
  [
    ['dl', 'ul', 'ol', 'dir', 'div', 'nav', 'pre', 'main', 'menu', 'aside', 'button', 'center', 'figure'],
    ['footer', 'header', 'hgroup', 'dialog', 'address', 'article', 'details', 'search', 'section'],
    ['summary', 'listing', 'fieldset', 'blockquote', 'figcaption'],
  ],
  endInScope,
);

function endInScope({open}: Construction, key: number): void {
  if (open.hasInScope(key, SCOPE)) open.popThrough(key);
}

onEnd(['dd', 'dt'], endInScope);

onEnd(['li'], ({open}, key) => {
  if (open.hasInScope(key, LIST_ITEM_SCOPE)) open.popThrough(key);
});

onEnd(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'], ({open}) => {
  const slot = open.indexOfClassInScope(HEADING, SCOPE);
  if (slot !== -1) open.shortenTo(slot);
});

onEnd(['br'], construction => {
  construction.reconstruct();
  construction.insertImplied(KEY.br);
  construction.open.pop();
});

onEnd(['body'], construction => {
  if (construction.open.hasInScope(KEY.body, SCOPE)) construction.mode = MODE.afterBody;
});

onEnd(['html'], construction => {
  if (construction.open.hasInScope(KEY.body, SCOPE)) construction.mode = MODE.afterAfterBody;
});

onEnd(['form'], construction => {
  const {open, formNode} = construction;
  construction.formNode = NONE;
  if (formNode === NONE || !open.hasInScope(KEY.form, SCOPE)) return;
  open.popImpliedEnds();
  const slot = open.indexOfNode(formNode);
  if (slot !== -1) open.removeAt(slot);
});

onEnd(['applet', 'object', 'marquee'], (construction, key) => {
  if (!construction.open.hasInScope(key, SCOPE)) return;
  construction.open.popThrough(key);
  construction.formatting.clearToMarker();
});

// No template is open.
onEnd(['template'], () => {});

/** HTML 13.2.6.4.7, "any other end tag": closes the element unless a special one is open in it. */
function endOrdinary({open}: Construction, key: number): void {
  const slot = open.indexBelowOrdinary(key);
  if (slot > 0) open.shortenTo(slot);
}

/** HTML 13.2.6.4.7, the adoption agency algorithm: ends a formatting element, though blocks in it may go on. */
function runAdoptionAgency(construction: Construction, key: number): void {
  const {open, formatting} = construction;
  if (open.key === key && formatting.indexOf(open.node) === -1) {
    open.pop();
    return;
  }
  for (let round = 0; round < OUTER_ROUNDS && !construction.isBeyond; round++) {
    const entry = formatting.newestOf(key);
    if (entry === -1) {
      endOrdinary(construction, key);
      return;
    }
    const element = formatting.nodeAt(entry);
    if (!formatting.isOpen(entry)) {
      if (formatting.mayOverflow) construction.isBeyond = true;
      formatting.remove(entry);
      return;
    }
    const slot = open.indexOfNode(element);
    if (open.lowestAbove(slot, SCOPE) !== -1) return;
    const furthest = open.lowestAbove(slot, SPECIAL);
    if (furthest === -1) {
      open.shortenTo(slot);
      formatting.remove(entry);
      return;
    }
    if (formatting.mayOverflow) construction.isBeyond = true;
    else adopt(construction, slot, furthest);
  }
}

/** Steps 10 to 20 for the formatting element at `slot` and its furthest block. */
function adopt(construction: Construction, slot: number, furthest: number): void {
  const {tree, open, formatting} = construction;
  const key = open.keyAt(slot);
  const element = open.nodeAt(slot);
  const block = open.nodeAt(furthest);
  let bookmark = element;
  let last = block;
  let top = furthest;
  for (let round = 0, inner = furthest - 1; inner > slot; round++, inner--) {
    const entry = formatting.indexOf(open.nodeAt(inner));
    if (entry === -1 || round >= INNER_ROUNDS) {
      open.removeAt(inner);
      if (entry !== -1) formatting.remove(entry);
      top--;
      continue;
    }
    const copy = tree.copyElement(open.nodeAt(inner));
    open.replaceAt(inner, copy);
    formatting.reopen(entry, copy);
    if (last === block) bookmark = copy;
    tree.detach(last);
    tree.append(copy, last);
    last = copy;
  }

  tree.detach(last);
  if ((classesOf(open.keyAt(slot - 1)) & TABLE_STRUCTURE) !== 0) construction.fosterElement(last);
  else tree.append(open.nodeAt(slot - 1), last);

  const heir = tree.copyElement(element);
  for (let child = tree.firstChild(block); child !== NONE; child = tree.firstChild(block)) {
    tree.detach(child);
    tree.append(heir, child);
  }
  tree.append(block, heir);
  formatting.insertAfter(formatting.indexOf(bookmark), key, heir);
  open.removeAt(slot);
  formatting.remove(formatting.indexOf(element));
  open.insertAt(top, key, heir);
}
