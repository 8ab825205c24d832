import {NONE} from '../../tree/tree.ts';
import type {Construction} from '../construction.ts';
import {classesOf, SCOPE, SPECIAL, TABLE_STRUCTURE} from '../element-class.ts';
import {endOrdinary} from './end-ordinary.ts';

const OUTER_ROUNDS = 8;
const INNER_ROUNDS = 3;

/** HTML 13.2.6.4.7, the adoption agency algorithm: ends a formatting element, though blocks in it may go on. */
export function runAdoptionAgency(construction: Construction, key: number): void {
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
