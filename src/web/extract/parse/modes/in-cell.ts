import type {Construction} from '../construction.ts';
import {TABLE_SCOPE} from '../element-class.ts';
import {ELEMENT, KEY} from '../element-name.ts';
import {endInBody} from './end-in-body.ts';
import {isTablePart} from './in-table.ts';
import {MODE} from './insertion-mode.ts';
import {startInBody} from './start-in-body.ts';

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
