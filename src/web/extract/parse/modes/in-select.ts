import type {Construction} from '../construction.ts';
import {TABLE_SCOPE} from '../element-class.ts';
import {ELEMENT, HTML, KEY, namespaceOf} from '../element-name.ts';
import {startMetadata} from './in-head.ts';
import {MODE} from './insertion-mode.ts';

/** The tags that end a select in a table. */
function endsSelectInTable(name: number): boolean {
  switch (name) {
    case ELEMENT.caption:
    case ELEMENT.table:
    case ELEMENT.tbody:
    case ELEMENT.tfoot:
    case ELEMENT.thead:
    case ELEMENT.tr:
    case ELEMENT.td:
    case ELEMENT.th:
      return true;
    default:
      return false;
  }
}

/** A start tag in a select; true where the mode that is set now has to see it. */
export function startInSelect(construction: Construction): boolean {
  const {open} = construction;
  const {name} = construction.tag;
  if (construction.mode === MODE.inSelectInTable && endsSelectInTable(name)) return leaveSelect(construction);
  switch (name) {
    case ELEMENT.html:
      construction.adoptAttributes(open.nodeAt(0), HTML);
      return false;
    case ELEMENT.option:
      popOption(construction);
      construction.insert(KEY.option);
      return false;
    case ELEMENT.optgroup:
    case ELEMENT.hr:
      popOption(construction);
      if (open.key === KEY.optgroup) open.pop();
      if (name === ELEMENT.hr) construction.append(KEY.hr);
      else construction.insert(KEY.optgroup);
      return false;
    case ELEMENT.select:
    case ELEMENT.input:
    case ELEMENT.keygen:
    case ELEMENT.textarea:
      return isSelectInScope(construction) && leaveSelect(construction) && name !== ELEMENT.select;
    case ELEMENT.script:
    case ELEMENT.template:
      startMetadata(construction);
      return false;
    default:
      return false;
  }
}

export function endInSelect(construction: Construction): boolean {
  const {open} = construction;
  const {name} = construction.tag;
  if (construction.mode === MODE.inSelectInTable && endsSelectInTable(name)) {
    return open.hasInScope(construction.tag.key, TABLE_SCOPE) && leaveSelect(construction);
  }
  switch (name) {
    case ELEMENT.optgroup:
      if (open.keyAt(open.depth - 2) === KEY.optgroup) popOption(construction);
      if (open.key === KEY.optgroup) open.pop();
      break;
    case ELEMENT.option:
      popOption(construction);
      break;
    case ELEMENT.select:
      if (isSelectInScope(construction)) leaveSelect(construction);
      break;
  }
  return false;
}

function popOption({open}: Construction): void {
  if (open.key === KEY.option) open.pop();
}

function leaveSelect(construction: Construction): boolean {
  construction.open.popThrough(KEY.select);
  construction.resetMode();
  return true;
}

/** "Have an element in select scope": only options and their groups are looked through. */
function isSelectInScope({open}: Construction): boolean {
  for (let slot = open.depth - 1; slot >= 0; slot--) {
    const key = open.keyAt(slot);
    if (key === KEY.select) return true;
    const isOption = key === KEY.option || key === KEY.optgroup;
    if (!isOption && namespaceOf(key) === HTML) return false;
  }
  return true;
}
