import {html, parse} from 'parse5';

/** HTML 13.2.6.4.1: whether a doctype, given with its brackets, puts a document into quirks mode. */
export function isQuirksDoctype(doctype: string): boolean {
  if (/^<!doctype[\t\n\f ]+html[\t\n\f ]*>$/i.test(doctype)) return false;
  return parse(doctype).mode === html.DOCUMENT_MODE.QUIRKS;
}
