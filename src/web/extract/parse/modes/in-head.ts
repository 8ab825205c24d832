import type {Construction} from '../construction.ts';
import {RAWTEXT, RCDATA, SCRIPT_DATA} from '../content-model.ts';
import {ELEMENT, HTML, KEY} from '../element-name.ts';
import {MODE} from './insertion-mode.ts';

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
