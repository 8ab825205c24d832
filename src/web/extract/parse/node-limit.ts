/** Beyond this share of the input, nodes can only come from formatting elements that are opened again and again. */
const NODES_PER_CHARACTER = 0.5;
const FREE_NODES = 65_536;

/** The nodes that markup of a length may make; a tree of more opens no formatting element again. */
export function nodeLimit(length: number): number {
  return length * NODES_PER_CHARACTER + FREE_NODES;
}
