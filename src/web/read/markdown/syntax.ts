/** What a UTF-16 unit of a document is for. */
export const SYNTAX = {
  /** Seen by a reader. */
  text: 0,
  /** The target of a link and the brackets around its text, or the target of a picture. */
  link: 1,
  /** Emphasis, backslashes of escapes, backticks: gone when the page is rendered, with nothing in their place. */
  inline: 2,
  /** Marks of headings, items, quotes, tables, pictures and fences: gone, and words do not meet across them. */
  block: 3,
} as const;
