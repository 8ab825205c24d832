/** How what follows a start tag is read (HTML 13.2.5): as markup, or as text up to the end tag of the same name. */
export const DATA = 0;
/** Text with character references. */
export const RCDATA = 1;
/** Text as it is. */
export const RAWTEXT = 2;
/** Text in which comments may hide end tags. */
export const SCRIPT_DATA = 3;
