// Parses HTML to a tree: by our own parser, or by parse5 where that one gives up.

import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import type {html as names, TreeAdapter, TreeAdapterTypeMap} from 'parse5';
import {packageFile} from '../../../core/package-file.ts';
import {ATTRIBUTE, attributeOf, foreignTagOf, TAG, tagOf} from '../tree/tags.ts';
import {DOCUMENT, NONE, Tree} from '../tree/tree.ts';
import {HtmlScanner} from './scanner.ts';
import {TreeBuilder} from './tree-builder.ts';

type NodeMap = TreeAdapterTypeMap<
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number
>;

type Parse5 = typeof import('parse5');

interface Loaded {
  readonly names: Parse5['html'];
  readonly BoundedParser: ReturnType<typeof boundedParser>;
}

const VENDORED = 'dist/vendor/parse5.cjs';

let loaded: Loaded | undefined;

/** The full algorithm: every rule of the standard, at the price of time. */
export function parseFully(html: string): Tree {
  loaded ??= load();
  const {names, BoundedParser} = loaded;
  const tree = new Tree(html.length >> 5);
  const parser = new BoundedParser({treeAdapter: treeAdapter(tree, names), scriptingEnabled: true}, DOCUMENT);
  const limit = nodeLimit(html.length);
  parser.isFull = () => tree.size > limit;
  parser.tokenizer.write(html, true);
  return tree;
}

/** Few documents need it, and it is most of what the conversion would load; so it is loaded by the first. */
function load(): Loaded {
  const requireHere = createRequire(packageFile('package.json'));
  // The package brings it as a file; a checkout that is not built has the package itself.
  const isBuilt = existsSync(packageFile(VENDORED));
  const parse5: Parse5 = requireHere(isBuilt ? `./${VENDORED}` : 'parse5');
  return {names: parse5.html, BoundedParser: boundedParser(parse5)};
}

/**
 * `<b id=1><b id=2>…` followed by many `<p>` makes every paragraph hold every `b`: quadratic by the standard.
 * Once a document has more nodes than markup of its length makes, formatting elements are no longer opened again.
 */
function boundedParser({Parser}: Parse5) {
  return class extends Parser<NodeMap> {
    isFull: () => boolean = () => false;

    override _reconstructActiveFormattingElements(): void {
      if (this.isFull()) return;
      super._reconstructActiveFormattingElements();
    }
  };
}

/** Lets parse5 write straight into a tree: no second tree, no conversion. */
function treeAdapter(tree: Tree, names: Parse5['html']): TreeAdapter<NodeMap> {
  const tagNames: string[] = [];
  const namespaces: names.NS[] = [];
  const templateContents = new Map<number, number>();
  let mode: names.DOCUMENT_MODE = names.DOCUMENT_MODE.NO_QUIRKS;
  /** Comments are not kept; this node stands for all of them. */
  const ignored = tree.createElement(TAG.none);

  return {
    createDocument: () => DOCUMENT,
    createDocumentFragment: () => tree.createElement(TAG.none),
    createCommentNode: () => ignored,
    createTextNode: text => tree.createText(text),
    createElement(tagName, namespace, attributes) {
      const node = tree.createElement(namespace === names.NS.HTML ? tagOf(tagName) : foreignTagOf(tagName));
      tagNames[node] = tagName;
      namespaces[node] = namespace;
      addAttributes(tree, node, attributes);
      return node;
    },
    adoptAttributes: (node, attributes) => addAttributes(tree, node, attributes),
    appendChild(parent, child) {
      if (child !== ignored) tree.append(parent, child);
    },
    insertBefore(_parent, child, reference) {
      if (child !== ignored) tree.insertBefore(child, reference);
    },
    detachNode: node => tree.detach(node),
    insertText(parent, text) {
      const last = tree.lastChild(parent);
      if (last !== NONE && tree.tag(last) === TAG.text) tree.extendText(last, text);
      else tree.append(parent, tree.createText(text));
    },
    insertTextBefore(_parent, text, reference) {
      const before = tree.previousSibling(reference);
      if (before !== NONE && tree.tag(before) === TAG.text) tree.extendText(before, text);
      else tree.insertBefore(tree.createText(text), reference);
    },
    getTemplateContent: node => templateContents.get(node) ?? NONE,
    setTemplateContent(node, content) {
      templateContents.set(node, content);
    },
    getAttrList: node => knownAttributes(tree, node),
    getChildNodes: node => children(tree, node),
    getFirstChild: node => tree.firstChild(node) || null,
    getParentNode: node => tree.parent(node) || null,
    getTagName: node => tagNames[node] ?? '',
    getNamespaceURI: node => namespaces[node] ?? names.NS.HTML,
    getTextNodeContent: node => tree.text(node),
    isTextNode: (node): node is number => tree.tag(node) === TAG.text,
    isElementNode: (node): node is number => tree.tag(node) > TAG.document,
    isCommentNode: (node): node is number => node === ignored,
    isDocumentTypeNode: (_node): _node is number => false,
    getCommentNodeContent: () => '',
    getDocumentMode: () => mode,
    setDocumentMode(_document, newMode) {
      mode = newMode;
    },
    setDocumentType() {},
    getDocumentTypeNodeName: () => '',
    getDocumentTypeNodePublicId: () => '',
    getDocumentTypeNodeSystemId: () => '',
    getNodeSourceCodeLocation: () => undefined,
    setNodeSourceCodeLocation() {},
    updateNodeSourceCodeLocation() {},
  };
}

function addAttributes(tree: Tree, node: number, attributes: readonly {name: string; value: string}[]): void {
  for (const {name, value} of attributes) {
    const id = attributeOf(name);
    if (id !== undefined) tree.addAttribute(node, id, value);
  }
}

/** The parser asks for the attributes of `annotation-xml` only, for its `encoding`. */
function knownAttributes(tree: Tree, node: number): {name: string; value: string}[] {
  const value = tree.attribute(node, ATTRIBUTE.encoding);
  return value === undefined ? [] : [{name: 'encoding', value}];
}

function children(tree: Tree, node: number): number[] {
  const found: number[] = [];
  for (let child = tree.firstChild(node); child !== NONE; child = tree.nextSibling(child)) found.push(child);
  return found;
}

/** Beyond this share of the input, nodes can only come from formatting elements that are opened again and again. */
const NODES_PER_CHARACTER = 0.5;
const FREE_NODES = 65_536;

/** The nodes that markup of a length may make; a tree of more opens no formatting element again. */
function nodeLimit(length: number): number {
  return length * NODES_PER_CHARACTER + FREE_NODES;
}

/** D1: parses by the WHATWG algorithm, with the scripting flag on, as the browser that renders the same page. */
export function parseHtml(html: string): Tree {
  return parseDirectly(html) ?? parseFully(html);
}

const EXPECTED_NODES_PER_CHARACTER = 1 / 24;

/**
 * The tree of the full algorithm in a fraction of its time, or `undefined` for a document that needs one of the rules
 * that are not here: templates, frames, `plaintext`, NUL, and what only a hostile document piles up.
 */
export function parseDirectly(html: string): Tree | undefined {
  if (html.includes('\0')) return undefined;
  // HTML 13.2.3.5: line ends are LF.
  const source = html.includes('\r') ? html.replace(/\r\n?/g, '\n') : html;
  const tree = new Tree(Math.ceil(source.length * EXPECTED_NODES_PER_CHARACTER), source);
  // Half the limit, well before the full parser stops to open elements again.
  const scanner = new HtmlScanner(source);
  const builder = new TreeBuilder(tree, scanner.tag, source, nodeLimit(html.length) / 2);
  scanner.scan(builder);
  return builder.isDone ? undefined : tree;
}
