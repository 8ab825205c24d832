// The insertion modes up to the head, and the document mode that a doctype sets.

import {ELEMENT, HTML, KEY} from './element-names.ts';
import {type Construction, MODE, RAWTEXT, RCDATA, SCRIPT_DATA} from './tree-state.ts';

/** HTML 13.2.6.4.4: the start tags that belong into a head; false for any other. */
export function startMetadata(construction: Construction): boolean {
  const key = construction.tag.key;
  switch (construction.tag.name) {
    case ELEMENT.base:
    case ELEMENT.basefont:
    case ELEMENT.bgsound:
    case ELEMENT.link:
    case ELEMENT.meta:
      construction.append(key);
      return true;
    case ELEMENT.title:
      construction.insertRawText(key, RCDATA);
      return true;
    case ELEMENT.noframes:
    case ELEMENT.style:
      construction.insertRawText(key, RAWTEXT);
      return true;
    case ELEMENT.script:
      construction.insertRawText(key, SCRIPT_DATA);
      return true;
    case ELEMENT.template:
      construction.isBeyond = true;
      return true;
    default:
      return false;
  }
}

/** HTML 13.2.6.4.1 to 13.2.6.4.6: a start tag before the body; true where the next mode has to see it. */
export function startBeforeBody(construction: Construction): boolean {
  const {tag, open} = construction;
  switch (construction.mode) {
    case MODE.initial:
      construction.isQuirks = true;
      construction.mode = MODE.beforeHtml;
      return true;
    case MODE.beforeHtml:
      construction.mode = MODE.beforeHead;
      if (tag.name !== ELEMENT.html) return leaveBeforeHtml(construction);
      construction.insertRoot();
      return false;
  }
  if (tag.name === ELEMENT.html) {
    construction.adoptAttributes(open.nodeAt(0), HTML);
    return false;
  }
  switch (construction.mode) {
    case MODE.beforeHead:
      if (tag.name !== ELEMENT.head) return leaveBeforeHead(construction);
      construction.headNode = construction.insert(KEY.head);
      construction.mode = MODE.inHead;
      return false;
    case MODE.inHead:
      if (tag.name === ELEMENT.noscript) construction.insertRawText(KEY.noscript, RAWTEXT);
      else if (tag.name !== ELEMENT.head && !startMetadata(construction)) return leaveHead(construction);
      return false;
    default:
      return startAfterHead(construction);
  }
}

function startAfterHead(construction: Construction): boolean {
  const {tag, open} = construction;
  if (tag.name === ELEMENT.head) return false;
  if (tag.name === ELEMENT.body) {
    construction.insert(KEY.body);
    construction.mode = MODE.inBody;
    return false;
  }
  if (tag.name === ELEMENT.frameset) {
    construction.isBeyond = true;
    return false;
  }
  // What belongs into the head goes there, late as it is.
  open.push(KEY.head, construction.headNode);
  const isMetadata = startMetadata(construction);
  open.removeAt(open.indexOfNode(construction.headNode));
  return isMetadata ? false : leaveAfterHead(construction);
}

/** An end tag before the body; true where the next mode has to see it. */
export function endBeforeBody(construction: Construction): boolean {
  const {name} = construction.tag;
  const isBodyEnd = name === ELEMENT.body || name === ELEMENT.html || name === ELEMENT.br;
  switch (construction.mode) {
    case MODE.initial:
      return leaveBeforeBody(construction);
    case MODE.beforeHtml:
    case MODE.beforeHead:
      return isBodyEnd || name === ELEMENT.head ? leaveBeforeBody(construction) : false;
    case MODE.inHead:
      if (name !== ELEMENT.head) return isBodyEnd ? leaveHead(construction) : false;
      construction.open.pop();
      construction.mode = MODE.afterHead;
      return false;
    default:
      return isBodyEnd ? leaveAfterHead(construction) : false;
  }
}

/** "Anything else" of a mode before the body: implies what is missing, and lets the next mode see the token. */
export function leaveBeforeBody(construction: Construction): boolean {
  switch (construction.mode) {
    case MODE.initial:
      construction.isQuirks = true;
      construction.mode = MODE.beforeHtml;
      return true;
    case MODE.beforeHtml:
      return leaveBeforeHtml(construction);
    case MODE.beforeHead:
      return leaveBeforeHead(construction);
    case MODE.inHead:
      return leaveHead(construction);
    default:
      return leaveAfterHead(construction);
  }
}

function leaveBeforeHtml(construction: Construction): boolean {
  construction.insertImplied(KEY.html);
  construction.mode = MODE.beforeHead;
  return true;
}

function leaveBeforeHead(construction: Construction): boolean {
  construction.headNode = construction.insertImplied(KEY.head);
  construction.mode = MODE.inHead;
  return true;
}

function leaveHead(construction: Construction): boolean {
  construction.open.pop();
  construction.mode = MODE.afterHead;
  return true;
}

function leaveAfterHead(construction: Construction): boolean {
  construction.insertImplied(KEY.body);
  construction.mode = MODE.inBody;
  return true;
}

/** The public identifiers that HTML 13.2.6.4.1 lists, by how they begin, in lower case. */
const QUIRKS_BEGINNINGS = [
  '+//silmaril//dtd html pro v0r11 19970101//',
  ...['-//as//', '-//advasoft ltd//'].map(owner => `${owner}dtd html 3.0 aswedit + extensions//`),
  ...[
    ...[
      '2.0 level 1',
      '2.0 level 2',
      '2.0 strict level 1',
      '2.0 strict level 2',
      '2.0 strict',
      '2.0',
      '2.1e',
    ],
    ...['3.0', '3.2 final', '3.2', '3', 'level 0', 'level 1', 'level 2', 'level 3', 'strict level 0'],
    ...['strict level 1', 'strict level 2', 'strict level 3', 'strict'],
  ].map(version => `-//ietf//dtd html ${version}//`),
  '-//ietf//dtd html//',
  '-//metrius//dtd metrius presentational//',
  ...['2.0 html strict', '2.0 html', '2.0 tables', '3.0 html strict', '3.0 html', '3.0 tables'].map(
    version => `-//microsoft//dtd internet explorer ${version}//`,
  ),
  ...['html', 'strict html'].map(name => `-//netscape comm. corp.//dtd ${name}//`),
  ...['2.0', 'extended 1.0', 'extended relaxed 1.0'].map(
    version => `-//o'reilly and associates//dtd html ${version}//`,
  ),
  '-//sq//dtd html 2.0 hotmetal + extensions//',
  '-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//',
  '-//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0//',
  '-//spyglass//dtd html 2.0 extended//',
  ...['html', 'strict html'].map(name => `-//sun microsystems corp.//dtd hotjava ${name}//`),
  ...[
    ...['3 1995-03-24', '3.2 draft', '3.2 final', '3.2', '3.2s draft', '4.0 frameset', '4.0 transitional'],
    ...['experimental 19960712', 'experimental 970421'],
  ].map(version => `-//w3c//dtd html ${version}//`),
  '-//w3c//dtd w3 html//',
  '-//w3o//dtd w3 html 3.0//',
  ...['html 2.0', 'html'].map(name => `-//webtechs//dtd mozilla ${name}//`),
];
/** The same, where there is no system identifier. */
const QUIRKS_ALONE = ['frameset', 'transitional'].map(version => `-//w3c//dtd html 4.01 ${version}//`);
const QUIRKS_WHOLE = ['-//w3o//dtd w3 html strict 3.0//en//', '-/w3c/dtd html 4.0 transitional/en', 'html'];
const QUIRKS_SYSTEM = 'http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd';

/**
 * What the states of HTML 13.2.5.53 to 13.2.5.67 accept without setting the force-quirks flag: a name, then
 * perhaps `PUBLIC` with one or two identifiers or `SYSTEM` with one. Behind a system identifier anything goes.
 */
const DOCTYPE = doctypePattern();

/** HTML 13.2.6.4.1: whether a doctype, given with its brackets, puts a document into quirks mode. */
export function isQuirksDoctype(doctype: string): boolean {
  const found = DOCTYPE.exec(doctype)?.groups;
  if (found?.['name']?.toLowerCase() !== 'html') return true;
  const publicId = found['public']?.slice(1, -1).toLowerCase();
  const systemId = (found['second'] ?? found['system'])?.slice(1, -1).toLowerCase();
  if (systemId === QUIRKS_SYSTEM) return true;
  if (publicId === undefined) return false;
  const beginnings = systemId === undefined ? [...QUIRKS_BEGINNINGS, ...QUIRKS_ALONE] : QUIRKS_BEGINNINGS;
  return QUIRKS_WHOLE.includes(publicId) || beginnings.some(beginning => publicId.startsWith(beginning));
}

function doctypePattern(): RegExp {
  const space = '[\\t\\n\\f\\r ]*';
  const identifier = `(?:"[^">]*"|'[^'>]*')`;
  const publicIds = `public${space}(?<public>${identifier})(?:${space}(?<second>${identifier})[^>]*|${space})`;
  const systemId = `system${space}(?<system>${identifier})[^>]*`;
  return new RegExp(
    `^<!doctype${space}(?<name>[^\\t\\n\\f\\r >]+)(?:${space}|[\\t\\n\\f\\r ]${space}(?:${publicIds}|${systemId}))>$`,
    'i',
  );
}
