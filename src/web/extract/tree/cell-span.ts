import {ATTRIBUTE} from './attribute.ts';
import type {Tree} from './tree.ts';

/** How many columns and rows a cell takes. */
export interface CellSpan {
  readonly columns: number;
  readonly rows: number;
}

/** More than this are a way to say "all", or to fill memory. */
const MOST = 50;

/** R2: `undefined` for a cell that takes one of each. */
export function cellSpanOf(tree: Tree, cell: number): CellSpan | undefined {
  const columns = tree.attribute(cell, ATTRIBUTE.colspan);
  const rows = tree.attribute(cell, ATTRIBUTE.rowspan);
  if (columns === undefined && rows === undefined) return undefined;
  return {columns: numberOf(columns), rows: numberOf(rows)};
}

function numberOf(written: string | undefined): number {
  const number = Number.parseInt(written ?? '1', 10);
  return number >= 1 ? Math.min(number, MOST) : 1;
}
