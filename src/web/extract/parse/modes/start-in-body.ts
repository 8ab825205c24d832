import {NONE} from '../../tree/tree.ts';
import type {Construction} from '../construction.ts';
import {RAWTEXT, RCDATA} from '../content-model.ts';
import {classesOf, HEADING, SCOPE} from '../element-class.ts';
import {ELEMENT, ELEMENT_NAMES, type ElementName, HTML, KEY, keyOf, MATHML, SVG} from '../element-name.ts';
import {runAdoptionAgency} from './adoption-agency.ts';
import {startMetadata} from './in-head.ts';
import {MODE} from './insertion-mode.ts';

type Rule = (construction: Construction, key: number) => void;

const RULES: Rule[] = ELEMENT_NAMES.map(() => startOrdinary);

/** HTML 13.2.6.4.7: a start tag in the body. */
export function startInBody(construction: Construction): void {
  const rule = RULES[construction.tag.name] ?? startOrdinary;
  rule(construction, construction.tag.key);
}

function on(names: readonly (ElementName | readonly ElementName[])[], rule: Rule): void {
  for (const name of names.flat()) RULES[ELEMENT[name]] = rule;
}

function startOrdinary(construction: Construction, key: number): void {
  construction.reconstruct();
  construction.insert(key);
}

on(['caption', 'col', 'colgroup', 'frame', 'head', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr'], () => {});

on(
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

on(['b', 'big', 'code', 'em', 'font', 'i', 's', 'small', 'strike', 'strong', 'tt', 'u'], startFormatting);

function startFormatting(construction: Construction, key: number): void {
  construction.reconstruct();
  construction.formatting.push(key, construction.insert(key));
}

on(['a'], (construction, key) => {
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

on(['nobr'], (construction, key) => {
  construction.reconstruct();
  if (construction.open.hasInScope(key, SCOPE)) {
    runAdoptionAgency(construction, key);
    construction.reconstruct();
  }
  construction.formatting.push(key, construction.insert(key));
});

on(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'], (construction, key) => {
  construction.closeParagraph();
  if ((classesOf(construction.open.key) & HEADING) !== 0) construction.open.pop();
  construction.insert(key);
});

on(['pre', 'listing'], (construction, key) => {
  construction.closeParagraph();
  construction.insert(key);
  construction.skipsLineFeed = true;
});

on(['li'], (construction, key) => startListItem(construction, key, key));
on(['dd', 'dt'], (construction, key) => startListItem(construction, key, key === KEY.dd ? KEY.dt : KEY.dd));

function startListItem(construction: Construction, key: number, otherKey: number): void {
  const before = construction.open.indexOfListItem(key, otherKey);
  if (before !== -1) construction.open.shortenTo(before);
  construction.closeParagraph();
  construction.insert(key);
}

on(['br', 'img', 'wbr', 'area', 'embed', 'keygen', 'input'], appendReconstructed);
on(['image'], construction => appendReconstructed(construction, KEY.img));
on(['param', 'track', 'source'], (construction, key) => construction.append(key));

function appendReconstructed(construction: Construction, key: number): void {
  construction.reconstruct();
  construction.append(key);
}

on(['hr'], (construction, key) => {
  construction.closeParagraph();
  construction.append(key);
});

on(['rb', 'rtc'], (construction, key) => {
  if (construction.open.hasInScope(KEY.ruby, SCOPE)) construction.open.popImpliedEnds();
  construction.insert(key);
});

on(['rt', 'rp'], (construction, key) => {
  if (construction.open.hasInScope(KEY.ruby, SCOPE)) construction.open.popImpliedEndsBut(KEY.rtc);
  construction.insert(key);
});

on(['svg'], construction => startForeign(construction, SVG));
on(['math'], construction => startForeign(construction, MATHML));

function startForeign(construction: Construction, namespace: number): void {
  construction.reconstruct();
  const key = keyOf(construction.tag.name, namespace);
  if (construction.tag.isSelfClosing) construction.append(key);
  else construction.insert(key);
}

on(['base', 'link', 'meta', 'style', 'title', 'script', 'bgsound', 'basefont', 'template'], startMetadata);

on(['iframe', 'noembed', 'noframes', 'noscript'], (construction, key) =>
  construction.insertRawText(key, RAWTEXT),
);

on(['xmp'], (construction, key) => {
  construction.closeParagraph();
  construction.reconstruct();
  construction.insertRawText(key, RAWTEXT);
});

on(['textarea'], (construction, key) => {
  construction.insertRawText(key, RCDATA);
  construction.skipsLineFeed = true;
});

on(['html'], construction => construction.adoptAttributes(construction.open.nodeAt(0), HTML));

on(['body'], construction => {
  const {open} = construction;
  if (open.keyAt(1) === KEY.body) construction.adoptAttributes(open.nodeAt(1), HTML);
});

on(['form'], (construction, key) => {
  if (construction.formNode !== NONE) return;
  construction.closeParagraph();
  construction.formNode = construction.insert(key);
});

on(['table'], (construction, key) => {
  if (!construction.isQuirks) construction.closeParagraph();
  construction.insert(key);
  construction.mode = MODE.inTable;
});

on(['button'], (construction, key) => {
  if (construction.open.hasInScope(key, SCOPE)) construction.open.popThrough(key);
  startOrdinary(construction, key);
});

on(['applet', 'object', 'marquee'], (construction, key) => {
  startOrdinary(construction, key);
  construction.formatting.insertMarker();
});

on(['select'], (construction, key) => {
  startOrdinary(construction, key);
  const isInTable = construction.mode >= MODE.inTable && construction.mode <= MODE.inCell;
  construction.mode = isInTable ? MODE.inSelectInTable : MODE.inSelect;
});

on(['option', 'optgroup'], (construction, key) => {
  if (construction.open.key === KEY.option) construction.open.pop();
  startOrdinary(construction, key);
});

// Rare, and far-reaching.
on(['frameset', 'plaintext'], construction => {
  construction.isBeyond = true;
});
