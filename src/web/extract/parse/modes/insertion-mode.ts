/** HTML 13.2.4.1: the insertion modes, but those of frames and templates, in their usual order. */
export const MODE = Object.freeze({
  initial: 0,
  beforeHtml: 1,
  beforeHead: 2,
  inHead: 3,
  afterHead: 4,
  inBody: 5,
  inTable: 6,
  inCaption: 7,
  inColumnGroup: 8,
  inTableBody: 9,
  inRow: 10,
  inCell: 11,
  inSelect: 12,
  inSelectInTable: 13,
  afterBody: 14,
  afterAfterBody: 15,
});
