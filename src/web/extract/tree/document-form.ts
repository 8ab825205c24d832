import {roleOf} from './element-role.ts';

/** TeX, or plain text. */
export interface InsteadOfNode {
  readonly kind: 'formula' | 'text';
  readonly text: string;
}

/** R2: how the content of a document is written otherwise than its elements say. */
export interface DocumentForm {
  /** For each node 0, or one more than the role (`ROLE.…`) that it has instead of its element's. */
  readonly roles: Uint8Array;
  /** The levels of headings, from 1. */
  readonly levels: ReadonlyMap<number, number>;
  /** What stands instead of nodes that are `inline` here. What is inside them is removed. */
  readonly instead: ReadonlyMap<number, InsteadOfNode>;
}

export function roleIn(form: DocumentForm | undefined, node: number, tag: number): number {
  const given = form?.roles[node] ?? 0;
  return given === 0 ? roleOf(tag) : given - 1;
}
