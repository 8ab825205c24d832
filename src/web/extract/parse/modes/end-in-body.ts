import {NONE} from '../../tree/tree.ts';
import type {Construction} from '../construction.ts';
import {BUTTON_SCOPE, HEADING, LIST_ITEM_SCOPE, SCOPE} from '../element-class.ts';
import {ELEMENT, ELEMENT_NAMES, type ElementName, KEY} from '../element-name.ts';
import {runAdoptionAgency} from './adoption-agency.ts';
import {endOrdinary} from './end-ordinary.ts';
import {MODE} from './insertion-mode.ts';

type Rule = (construction: Construction, key: number) => void;

const RULES: Rule[] = ELEMENT_NAMES.map(() => endOrdinary);

/** HTML 13.2.6.4.7: an end tag in the body. */
export function endInBody(construction: Construction): void {
  const rule = RULES[construction.tag.name] ?? endOrdinary;
  rule(construction, construction.tag.key);
}

function on(names: readonly (ElementName | readonly ElementName[])[], rule: Rule): void {
  for (const name of names.flat()) RULES[ELEMENT[name]] = rule;
}

on(
  [['a', 'b', 'big', 'code', 'em', 'font', 'i', 'nobr', 's', 'small', 'strike', 'strong', 'tt', 'u']],
  runAdoptionAgency,
);

on(['p'], construction => {
  if (!construction.open.hasInScope(KEY.p, BUTTON_SCOPE)) construction.insertImplied(KEY.p);
  construction.closeParagraph();
});

on(
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

on(['dd', 'dt'], endInScope);

on(['li'], ({open}, key) => {
  if (open.hasInScope(key, LIST_ITEM_SCOPE)) open.popThrough(key);
});

on(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'], ({open}) => {
  const slot = open.indexOfClassInScope(HEADING, SCOPE);
  if (slot !== -1) open.shortenTo(slot);
});

on(['br'], construction => {
  construction.reconstruct();
  construction.insertImplied(KEY.br);
  construction.open.pop();
});

on(['body'], construction => {
  if (construction.open.hasInScope(KEY.body, SCOPE)) construction.mode = MODE.afterBody;
});

on(['html'], construction => {
  if (construction.open.hasInScope(KEY.body, SCOPE)) construction.mode = MODE.afterAfterBody;
});

on(['form'], construction => {
  const {open, formNode} = construction;
  construction.formNode = NONE;
  if (formNode === NONE || !open.hasInScope(KEY.form, SCOPE)) return;
  open.popImpliedEnds();
  const slot = open.indexOfNode(formNode);
  if (slot !== -1) open.removeAt(slot);
});

on(['applet', 'object', 'marquee'], (construction, key) => {
  if (!construction.open.hasInScope(key, SCOPE)) return;
  construction.open.popThrough(key);
  construction.formatting.clearToMarker();
});

// No template is open.
on(['template'], () => {});
