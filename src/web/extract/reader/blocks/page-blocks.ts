/** Block: a run of text and pictures that no block element interrupts. */
export interface Blocks {
  /** Of each block the range of `leaves`. */
  readonly firstLeaf: number[];
  /** The innermost element around its start. */
  readonly element: number[];
  readonly place: number[];
  /** UTF-16 units that are not blank; `linkUnits` and `boldUnits` are those inside links and bold text. */
  readonly units: number[];
  readonly linkUnits: number[];
  readonly boldUnits: number[];
  readonly words: number[];
  readonly links: number[];
  /** Links to a place on the page itself. */
  readonly anchors: number[];
  /** Form fields since the block before. */
  readonly fields: number[];
  readonly pictures: number[];
  readonly stops: number[];
  readonly commas: number[];
  /** Signs such as `|` and `»`. */
  readonly dividers: number[];
  readonly digits: number[];
  readonly uppers: number[];
  readonly hash: number[];
  readonly firstUnit: number[];
  readonly lastUnit: number[];
  /** 1 where the text ends a sentence. */
  readonly endsWithStop: number[];
}

/**
 * Elements in tree order; 0 is the document. Inline elements are left out where they say nothing of their text.
 * The blocks inside element `e` are `firstBlock[e]` up to `endBlock[e]`.
 */
export interface Elements {
  readonly node: number[];
  readonly tag: number[];
  readonly parent: number[];
  readonly depth: number[];
  readonly place: number[];
  /** Of the tag and class, the same where only digits differ; `path` is that of all elements down to this. */
  readonly own: number[];
  readonly path: number[];
  /** Where its class categories are in `classRows`, or those of the nearest element that has any. */
  readonly classRow: number[];
  readonly firstBlock: number[];
  readonly endBlock: number[];
}

/** A document as the choice of the main content sees it: parallel arrays, and an index for each thing. */
export interface PageBlocks {
  readonly blocks: Blocks;
  readonly elements: Elements;
  /** Text nodes and pictures in tree order; further blocks begin where `blocks.firstLeaf` says. */
  readonly leaves: number[];
  /** Nodes that no text of a page is in: scripts, form fields, hidden words in a line. */
  readonly dropped: readonly number[];
  /** Links in tree order, and of each the block that it is in or begins. */
  readonly links: number[];
  readonly blockOfLink: number[];
  /** Links to a place on the page itself. */
  readonly fragmentLinks: number[];
  /** Elements whose text is the TeX source of a formula. */
  readonly formulas: number[];
  /** Formulas of MathML that are shown and are in no other. */
  readonly mathml: number[];
  /** `sup` elements. */
  readonly raised: number[];
  /** Rows of `CLASS_CATEGORIES.length` elements: the innermost one around that has the category, 0 for none. */
  readonly classRows: Int32Array;
}

export function emptyPage(): PageBlocks & {readonly dropped: number[]; classRows: Int32Array} {
  return {
    blocks: {
      firstLeaf: [],
      element: [],
      place: [],
      units: [],
      linkUnits: [],
      boldUnits: [],
      words: [],
      links: [],
      anchors: [],
      fields: [],
      pictures: [],
      stops: [],
      commas: [],
      dividers: [],
      digits: [],
      uppers: [],
      hash: [],
      firstUnit: [],
      lastUnit: [],
      endsWithStop: [],
    },
    elements: {
      node: [],
      tag: [],
      parent: [],
      depth: [],
      place: [],
      own: [],
      path: [],
      classRow: [],
      firstBlock: [],
      endBlock: [],
    },
    leaves: [],
    dropped: [],
    links: [],
    blockOfLink: [],
    fragmentLinks: [],
    formulas: [],
    mathml: [],
    raised: [],
    classRows: new Int32Array(0),
  };
}
