// The insertion modes of tables.

import {NONE} from '../tree/tree.ts';
import {ELEMENT, HTML, KEY, TABLE_SCOPE, TABLE_SECTION} from './element-names.ts';
import {endInBody, startInBody} from './in-body.ts';
import {startMetadata} from './in-head.ts';
import {READ_ATTRIBUTE} from './tag-reader.ts';
import {type Construction, MODE} from './tree-state.ts';

/** The tags that only mean something in a table; in a cell or a caption they end it, or nothing. */
function isTablePart(name: number): boolean {
  switch (name) {
    case ELEMENT.caption:
    case ELEMENT.col:
    case ELEMENT.colgroup:
    case ELEMENT.tbody:
    case ELEMENT.td:
    case ELEMENT.tfoot:
    case ELEMENT.th:
    case ELEMENT.thead:
    case ELEMENT.tr:
      return true;
    default:
      return false;
  }
}

/** HTML 13.2.6.4.9: a start tag in a table; true where the mode that is set now has to see it. */
export function startInTable(construction: Construction): boolean {
  const {open} = construction;
  const key = construction.tag.key;
  switch (construction.tag.name) {
    case ELEMENT.caption:
      open.clearBackTo(KEY.table, 0);
      construction.formatting.insertMarker();
      construction.insert(key);
      construction.mode = MODE.inCaption;
      return false;
    case ELEMENT.colgroup:
      open.clearBackTo(KEY.table, 0);
      construction.insert(key);
      construction.mode = MODE.inColumnGroup;
      return false;
    case ELEMENT.col:
      open.clearBackTo(KEY.table, 0);
      construction.insertImplied(KEY.colgroup);
      construction.mode = MODE.inColumnGroup;
      return true;
    case ELEMENT.tbody:
    case ELEMENT.tfoot:
    case ELEMENT.thead:
      open.clearBackTo(KEY.table, 0);
      construction.insert(key);
      construction.mode = MODE.inTableBody;
      return false;
    case ELEMENT.td:
    case ELEMENT.th:
    case ELEMENT.tr:
      open.clearBackTo(KEY.table, 0);
      construction.insertImplied(KEY.tbody);
      construction.mode = MODE.inTableBody;
      return true;
    case ELEMENT.table:
      if (!open.hasInScope(KEY.table, TABLE_SCOPE)) return false;
      open.popThrough(KEY.table);
      construction.resetMode();
      return true;
    case ELEMENT.style:
    case ELEMENT.script:
    case ELEMENT.template:
      startMetadata(construction);
      return false;
    case ELEMENT.form:
      if (construction.formNode !== NONE) return false;
      construction.formNode = construction.append(key);
      return false;
    default:
      if (isHiddenInput(construction)) construction.append(key);
      else fosterOnInsertion(construction, startInBody);
      return false;
  }
}

function isHiddenInput({tag}: Construction): boolean {
  return tag.name === ELEMENT.input && tag.valueOf(READ_ATTRIBUTE.type)?.toLowerCase() === 'hidden';
}

/** An end tag in a table. */
export function endInTable(construction: Construction): boolean {
  const {name} = construction.tag;
  if (name === ELEMENT.table) {
    if (!construction.open.hasInScope(KEY.table, TABLE_SCOPE)) return false;
    construction.open.popThrough(KEY.table);
    construction.resetMode();
  } else if (!isTablePart(name) && name !== ELEMENT.body && name !== ELEMENT.html) {
    fosterOnInsertion(construction, endInBody);
  }
  return false;
}

/** "Anything else": the rules of the body, with foster parenting. */
export function fosterOnInsertion(
  construction: Construction,
  rule: (construction: Construction) => void,
): void {
  construction.fosters = true;
  rule(construction);
  construction.fosters = false;
}

/** HTML 13.2.6.4.13 */
export function startInTableBody(construction: Construction): boolean {
  const {open} = construction;
  const {name} = construction.tag;
  if (name === ELEMENT.tr) {
    open.clearBackTo(KEY.html, TABLE_SECTION);
    construction.insert(KEY.tr);
    construction.mode = MODE.inRow;
    return false;
  }
  if (name === ELEMENT.td || name === ELEMENT.th) {
    open.clearBackTo(KEY.html, TABLE_SECTION);
    construction.insertImplied(KEY.tr);
    construction.mode = MODE.inRow;
    return true;
  }
  return isTablePart(name) ? leaveTableBody(construction) : startInTable(construction);
}

export function endInTableBody(construction: Construction): boolean {
  const {open} = construction;
  switch (construction.tag.name) {
    case ELEMENT.tbody:
    case ELEMENT.tfoot:
    case ELEMENT.thead:
      if (open.hasInScope(construction.tag.key, TABLE_SCOPE)) popTableBody(construction);
      return false;
    case ELEMENT.table:
      return leaveTableBody(construction);
    default:
      return endInTable(construction);
  }
}

function leaveTableBody(construction: Construction): boolean {
  if (construction.open.indexOfClassInScope(TABLE_SECTION, TABLE_SCOPE) === -1) return false;
  popTableBody(construction);
  return true;
}

function popTableBody(construction: Construction): void {
  construction.open.clearBackTo(KEY.html, TABLE_SECTION);
  construction.open.pop();
  construction.mode = MODE.inTable;
}

/** HTML 13.2.6.4.14 */
export function startInRow(construction: Construction): boolean {
  const {name} = construction.tag;
  if (name === ELEMENT.td || name === ELEMENT.th) {
    construction.open.clearBackTo(KEY.tr, 0);
    construction.insert(construction.tag.key);
    construction.mode = MODE.inCell;
    construction.formatting.insertMarker();
    return false;
  }
  return isTablePart(name) ? leaveRow(construction) : startInTable(construction);
}

export function endInRow(construction: Construction): boolean {
  switch (construction.tag.name) {
    case ELEMENT.tr:
      leaveRow(construction);
      return false;
    case ELEMENT.table:
    case ELEMENT.tbody:
    case ELEMENT.tfoot:
    case ELEMENT.thead:
      return leaveRow(construction);
    default:
      return endInTable(construction);
  }
}

function leaveRow(construction: Construction): boolean {
  if (!construction.open.hasInScope(KEY.tr, TABLE_SCOPE)) return false;
  construction.open.clearBackTo(KEY.tr, 0);
  construction.open.pop();
  construction.mode = MODE.inTableBody;
  return true;
}

/** HTML 13.2.6.4.12: text that is not blank, or a tag, where only columns may be. */
export function leaveColumnGroup(construction: Construction): boolean {
  if (construction.open.key !== KEY.colgroup) return false;
  construction.open.pop();
  construction.mode = MODE.inTable;
  return true;
}

export function startInColumnGroup(construction: Construction): boolean {
  switch (construction.tag.name) {
    case ELEMENT.html:
      construction.adoptAttributes(construction.open.nodeAt(0), HTML);
      return false;
    case ELEMENT.col:
      construction.append(KEY.col);
      return false;
    case ELEMENT.template:
      startMetadata(construction);
      return false;
    default:
      return leaveColumnGroup(construction);
  }
}

export function endInColumnGroup(construction: Construction): boolean {
  const {name} = construction.tag;
  if (name === ELEMENT.col || name === ELEMENT.template) return false;
  const left = leaveColumnGroup(construction);
  return left && name !== ELEMENT.colgroup;
}

/** HTML 13.2.6.4.15: a start tag in a cell; true where the mode that is set now has to see it. */
export function startInCell(construction: Construction): boolean {
  if (isTablePart(construction.tag.name)) return leaveCell(construction);
  startInBody(construction);
  return false;
}

export function endInCell(construction: Construction): boolean {
  const {open, tag} = construction;
  const key = construction.tag.key;
  switch (tag.name) {
    case ELEMENT.td:
    case ELEMENT.th:
      if (open.hasInScope(key, TABLE_SCOPE)) popCell(construction, key);
      return false;
    case ELEMENT.table:
    case ELEMENT.tbody:
    case ELEMENT.tfoot:
    case ELEMENT.thead:
    case ELEMENT.tr:
      return open.hasInScope(key, TABLE_SCOPE) && leaveCell(construction);
    default:
      endUnlessStructure(construction);
      return false;
  }
}

/** HTML 13.2.6.4.11 */
export function startInCaption(construction: Construction): boolean {
  if (isTablePart(construction.tag.name)) return leaveCaption(construction);
  startInBody(construction);
  return false;
}

export function endInCaption(construction: Construction): boolean {
  const {name} = construction.tag;
  if (name === ELEMENT.caption || name === ELEMENT.table) {
    return leaveCaption(construction) && name === ELEMENT.table;
  }
  endUnlessStructure(construction);
  return false;
}

function endUnlessStructure(construction: Construction): void {
  const {name} = construction.tag;
  if (!isTablePart(name) && name !== ELEMENT.body && name !== ELEMENT.html) endInBody(construction);
}

function leaveCell(construction: Construction): boolean {
  const {open} = construction;
  if (open.hasInScope(KEY.td, TABLE_SCOPE)) popCell(construction, KEY.td);
  else if (open.hasInScope(KEY.th, TABLE_SCOPE)) popCell(construction, KEY.th);
  else return false;
  return true;
}

function popCell(construction: Construction, key: number): void {
  construction.open.popThrough(key);
  construction.formatting.clearToMarker();
  construction.mode = MODE.inRow;
}

function leaveCaption(construction: Construction): boolean {
  const {open} = construction;
  if (!open.hasInScope(KEY.caption, TABLE_SCOPE)) return false;
  open.popThrough(KEY.caption);
  construction.formatting.clearToMarker();
  construction.mode = MODE.inTable;
  return true;
}
