import {roleOf} from './element-role.ts';
import {TAG} from './tag.ts';

/** R2: how the content of a document is written otherwise than its elements say. */
export interface DocumentForm {
  /** For each node 0, or one more than the role (`ROLE.…`) that it has instead of its element's. */
  readonly roles: Uint8Array;
  /** The levels of headings, from 1. */
  readonly levels: ReadonlyMap<number, number>;
}

export function roleIn(form: DocumentForm | undefined, node: number, tag: number): number {
  const given = form?.roles[node] ?? 0;
  return given === 0 ? roleOf(tag) : given - 1;
}

/** The source of a formula stands as GitLab and GitHub write it, in which no sign is an escape. */
export function isFormula(tag: number): boolean {
  return tag === TAG.annotation || tag === TAG.script;
}
