import {parseDirectly} from '../parse/parse-directly.ts';
import {parseFully} from '../parse/parse-fully.ts';
import type {SourceText} from './source-text.ts';
import type {Tree} from './tree.ts';

/** D1: parses by the WHATWG algorithm, with the scripting flag on, as the browser that renders the same page. */
export function parseHtml(html: string | SourceText): Tree {
  return parseDirectly(html) ?? parseFully(html.toString());
}
